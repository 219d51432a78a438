// SPDX-License-Identifier: Apache-2.0
#include "server/lease_keeper.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <system_error>

#include <telltale/diag/lease.h>

namespace telltale::server {
namespace {

int new_eventfd() {
  int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  return fd;
}

void wake(void* fd) noexcept {
  std::uint64_t one = 1;
  // Fails where it has been woken 2^64 - 2 times already: it will look anyway.
  [[maybe_unused]] auto written = ::write(static_cast<int>(reinterpret_cast<std::intptr_t>(fd)), &one, sizeof one);
}

}  // namespace

LeaseKeeper::LeaseKeeper(boost::asio::io_context& loop, std::function<void()> ended)
    : spent_fd_(new_eventfd()), spent_(loop, spent_fd_), timer_(loop), ended_(std::move(ended)) {
  diag::on_lease_spent(wake, reinterpret_cast<void*>(static_cast<std::intptr_t>(spent_fd_)));
  wait_for_spent();
}

LeaseKeeper::~LeaseKeeper() { diag::on_lease_spent(nullptr, nullptr); }

void LeaseKeeper::wait_for_spent() {
  spent_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& failed) {
    if (failed || stopped_) return;
    std::uint64_t times = 0;
    [[maybe_unused]] auto got = ::read(spent_fd_, &times, sizeof times);
    look();
    wait_for_spent();
  });
}

void LeaseKeeper::look() {
  if (stopped_) return;
  auto ended = diag::expire_leases(std::chrono::steady_clock::now());
  if (!ended.empty() && ended_) ended_();
  diag::limit_leases(std::chrono::steady_clock::now());
  auto next = diag::next_lease_end();
  if (auto check = diag::next_rate_check(); check && (!next || *check < *next)) next = check;
  if (!next) {
    timer_.cancel();
    return;
  }
  timer_.expires_at(*next);
  timer_.async_wait([this](const boost::system::error_code& failed) {
    if (!failed) look();
  });
}

void LeaseKeeper::stop() {
  stopped_ = true;
  timer_.cancel();
  spent_.cancel();
}

}  // namespace telltale::server
