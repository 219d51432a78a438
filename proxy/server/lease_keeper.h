// SPDX-License-Identifier: Apache-2.0
#pragma once
// LeaseKeeper: takes leases back when their time is up or their lines are spent, and from those that write more
// than they may what they write the most, without being asked.
//
// **Thread safety:** main thread only; the library's notifier may come from any thread.

#include <functional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

namespace telltale::server {

class LeaseKeeper {
 public:
  // `ended` is called after leases were taken back. Errors: std::system_error if there is no descriptor.
  LeaseKeeper(boost::asio::io_context& loop, std::function<void()> ended);
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  // Call after leases were opened or ended.
  void look();
  // Lets the loop end.
  void stop();

 private:
  void wait_for_spent();

  const int spent_fd_;  // owned by spent_
  boost::asio::posix::stream_descriptor spent_;
  boost::asio::steady_timer timer_;
  std::function<void()> ended_;
  bool stopped_ = false;
};

}  // namespace telltale::server
