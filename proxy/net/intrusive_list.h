// SPDX-License-Identifier: Apache-2.0
#pragma once
// A doubly linked list through its elements: no allocation, and an element leaves whichever list it is in when it is
// destroyed. That makes walks safe in which elements come and go: see walk().
//
// **Thread safety:** thread-compatible.

namespace telltale::net {

// Base of an element.
class Link {
 public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() { unlink(); }

  [[nodiscard]] bool linked() const noexcept { return next_ != this; }
  void unlink() noexcept {
    previous_->next_ = next_;
    next_->previous_ = previous_;
    previous_ = next_ = this;
  }

 private:
  template <class T>
  friend class IntrusiveList;
  Link* previous_ = this;
  Link* next_ = this;
};

// T derives from Link.
template <class T>
class IntrusiveList {
 public:
  [[nodiscard]] bool empty() const noexcept { return !head_.linked(); }
  [[nodiscard]] T& front() noexcept { return static_cast<T&>(*head_.next_); }

  void push_back(T& element) noexcept {
    Link& link = element;
    link.unlink();
    link.previous_ = head_.previous_;
    link.next_ = &head_;
    head_.previous_->next_ = &link;
    head_.previous_ = &link;
  }

  // Moves every element to the end of `to`. Cost: constant.
  void move_to(IntrusiveList& to) noexcept {
    if (empty()) {
      return;
    }
    Link* const first = head_.next_;
    Link* const last = head_.previous_;
    head_.next_ = head_.previous_ = &head_;
    first->previous_ = to.head_.previous_;
    to.head_.previous_->next_ = first;
    last->next_ = &to.head_;
    to.head_.previous_ = last;
  }

  // Calls visit(element) once for each element that is in the list now and still exists when its turn comes.
  // visit may add, unlink and destroy any element.
  template <class Visit>
  void walk(Visit visit) {
    IntrusiveList todo;
    move_to(todo);
    while (!todo.empty()) {
      T& element = todo.front();
      push_back(element);
      visit(element);
    }
  }

 private:
  Link head_;
};

}  // namespace telltale::net
