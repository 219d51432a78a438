// SPDX-License-Identifier: Apache-2.0
// See journal_sender.h; tested in journal_sender_test.cc.
//
// poll() says nothing of the queue of a peer one is not connected to, and a connected socket would be of no use after
// journald was restarted. So a full queue is waited for in the kernel: the socket blocks, with a time-out, where it is
// not told MSG_DONTWAIT.
#include "journal_sender.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

namespace telltale::diag {

namespace {

constexpr int kSendBufferBytes = 8 * 1024 * 1024;  // asked for; what the system allows is 2 to 4 MiB

std::string error_text(int error) { return std::generic_category().message(error); }

bool too_large(int error) noexcept { return error == EMSGSIZE || error == ENOBUFS; }

bool full(int error) noexcept { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

tl::expected<JournalSender, std::string> JournalSender::open(std::string_view path, Receiver receiver) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path[0] != '/' || path.size() >= sizeof address.sun_path || path.find('\0') != std::string_view::npos) {
    return tl::unexpected(fmt::format("{}'s socket \"{}\": expected an absolute path of at most {} bytes", receiver.name, path,
                                      sizeof address.sun_path - 1));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return tl::unexpected(fmt::format("{}'s socket {}: no descriptor: {}", receiver.name, path, error_text(errno)));
  // As root beyond the system's limit; either may be refused, and then more entries go as a memfd.
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUFFORCE, &kSendBufferBytes, sizeof kSendBufferBytes) != 0) {
    (void)::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUF, &kSendBufferBytes, sizeof kSendBufferBytes);
  }
  const timeval patience{0, std::chrono::microseconds(kPatience).count()};
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  return JournalSender(std::move(socket), std::string(path), address, receiver);
}

bool JournalSender::send(std::string_view entry, Clock::time_point now, bool counted) noexcept {
  if (now >= again_) {
    int error = try_patiently(entry);
    const bool large = receiver_.takes_memfd && too_large(error);
    if (large) error = send_as_memfd(entry);
    if (error == 0) {
      state_ = JournalState::kTaken;
      if (counted) ++counters_.sent;
      if (counted && large) ++counters_.memfd;
      return true;
    }
    set_back(error, now);
  }
  if (counted) miss(1);
  return false;
}

void JournalSender::miss(std::uint64_t entries) noexcept {
  counters_.dropped += entries;
  if (state_ == JournalState::kAbsent) counters_.absent += entries;
  if (state_ == JournalState::kRefused) counters_.refused += entries;
}

int JournalSender::try_once(std::string_view entry, int flags) noexcept {
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path_.size());
  while (::sendto(socket_.get(), entry.data(), entry.size(), flags | MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address_), bytes) < 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

int JournalSender::try_patiently(std::string_view entry) noexcept {
  int error = try_once(entry, MSG_DONTWAIT);
  return full(error) && state_ != JournalState::kStalled ? try_once(entry, 0) : error;
}

int JournalSender::send_as_memfd(std::string_view entry) noexcept {
  UniqueFd memfd(::memfd_create("telltale-entry", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memfd) return errno;
  for (std::string_view rest = entry; !rest.empty();) {
    ssize_t n = ::write(memfd.get(), rest.data(), rest.size());
    if (n > 0) {
      rest.remove_prefix(static_cast<std::size_t>(n));
    } else if (n == 0 || errno != EINTR) {
      return n == 0 ? EIO : errno;
    }
  }
  if (::fcntl(memfd.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) return errno;
  int error = hand_over(memfd.get(), MSG_DONTWAIT);
  return full(error) && state_ != JournalState::kStalled ? hand_over(memfd.get(), 0) : error;
}

int JournalSender::hand_over(int memfd, int flags) noexcept {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof memfd)] = {};
  msghdr message{};
  message.msg_name = &address_;
  message.msg_namelen = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path_.size());
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof memfd);
  std::memcpy(CMSG_DATA(head), &memfd, sizeof memfd);
  while (::sendmsg(socket_.get(), &message, flags | MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

void JournalSender::set_back(int error, Clock::time_point now) noexcept {
  error_ = error;
  const bool refused = error == ECONNREFUSED || error == EPERM || error == EACCES;
  state_ = full(error)        ? JournalState::kStalled
           : error == ENOENT  ? JournalState::kAbsent
           : refused          ? JournalState::kRefused
                              : JournalState::kFailing;
  if (error == ENOENT || refused) again_ = now + kBackOff;
}

std::optional<std::string> JournalSender::take_notice(Clock::time_point now) {
  if (state_ == told_ || (told_at_ != Clock::time_point{} && now - told_at_ < kNoticeEvery)) return std::nullopt;
  told_ = state_;
  told_at_ = now;
  const std::uint64_t lost = counters_.dropped - dropped_when_told_;
  constexpr std::string_view kMeanwhile = "what is for it is lost, and counted";
  switch (state_) {
    case JournalState::kTaken:
      dropped_when_told_ = counters_.dropped;
      return fmt::format("{} takes records again; {} were lost", receiver_.name, lost);
    case JournalState::kAbsent: return fmt::format("{} is not there, {}: {}; {}", receiver_.name, path_, error_text(error_), kMeanwhile);
    case JournalState::kRefused: return fmt::format("{} is not to be reached, {}: {}; {}", receiver_.name, path_, error_text(error_), kMeanwhile);
    case JournalState::kStalled: return fmt::format("{} has read nothing for {} ms; {}", receiver_.name, kPatience.count(), kMeanwhile);
    case JournalState::kFailing: break;
  }
  return fmt::format("{} cannot be written to, {}: {}; {}", receiver_.name, path_, error_text(error_), kMeanwhile);
}

}  // namespace telltale::diag
