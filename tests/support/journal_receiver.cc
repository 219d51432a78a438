// SPDX-License-Identifier: Apache-2.0
// See journal_receiver.h.
#include "tests/support/journal_receiver.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace telltale::test {

namespace {

constexpr std::size_t kFieldsMax = 1024, kNameBytesMax = 64;
// More than one value of these has no meaning. What else stands twice is a list to journald.
constexpr std::string_view kOnce[] = {"MESSAGE",   "PRIORITY",  "SYSLOG_IDENTIFIER", "SYSLOG_FACILITY", "SYSLOG_PID",
                                      "TID",       "CODE_FILE", "CODE_LINE",         "CODE_FUNC",       "DIAG_TAG",
                                      "DIAG_TXN",  "DIAG_CONN", "DIAG_PLUGIN",       "DIAG_CLIENT",     "DIAG_FIELDS_DROPPED",
                                      "MESSAGE_ID"};

tl::unexpected<std::string> refused(std::string why) { return tl::unexpected(std::move(why)); }

bool is_name(std::string_view name) {
  auto may_stand = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name.size() <= kNameBytesMax && name[0] != '_' && !(name[0] >= '0' && name[0] <= '9') &&
         std::all_of(name.begin(), name.end(), may_stand);
}

tl::expected<void, std::string> take_field(std::string_view& rest, JournalEntry& entry) {
  std::size_t end = rest.find('\n');
  if (end == std::string_view::npos) return refused("a torn end");
  std::string_view line = rest.substr(0, end);
  std::size_t equals = line.find('=');
  std::string name(line.substr(0, equals));
  if (!is_name(name)) return refused("a name that is none: " + name);
  rest.remove_prefix(end + 1);
  if (equals != std::string_view::npos) {
    entry.fields.emplace_back(std::move(name), line.substr(equals + 1));
    return {};
  }
  if (rest.size() < 8) return refused("no length behind " + name);
  std::uint64_t size = 0;
  for (int i = 7; i >= 0; --i) size = size << 8 | static_cast<unsigned char>(rest[static_cast<std::size_t>(i)]);
  rest.remove_prefix(8);
  if (size >= rest.size() || rest[size] != '\n') return refused("a length that does not fit, of " + name);
  entry.fields.emplace_back(std::move(name), rest.substr(0, size));
  rest.remove_prefix(size + 1);
  return {};
}

tl::expected<void, std::string> check(const JournalEntry& entry) {
  if (entry.fields.size() > kFieldsMax) return refused("more than 1024 fields");
  for (std::string_view name : kOnce) {
    if (entry.values(name).size() > 1) return refused(std::string(name) + " twice");
  }
  if (entry.values("MESSAGE").empty()) return refused("no MESSAGE");
  std::string priority = entry.value("PRIORITY");
  if (priority.size() != 1 || priority[0] < '0' || priority[0] > '7') return refused("a PRIORITY that is none: " + priority);
  return {};
}

}  // namespace

std::vector<std::string> JournalEntry::values(std::string_view name) const {
  std::vector<std::string> all;
  for (const auto& [key, value] : fields) {
    if (key == name) all.push_back(value);
  }
  return all;
}

std::string JournalEntry::value(std::string_view name) const {
  std::vector<std::string> all = values(name);
  return all.size() == 1 ? all[0] : all.empty() ? "(there is none)" : "(there are several)";
}

tl::expected<std::vector<JournalEntry>, std::string> parse_journal(std::string_view bytes) {
  std::vector<JournalEntry> entries;
  bool open = false;
  for (std::string_view rest = bytes; !rest.empty();) {
    if (rest[0] == '\n') {
      if (!open) return refused("an empty entry");
      rest.remove_prefix(1);
      open = false;
      continue;
    }
    if (!open) entries.emplace_back();
    open = true;
    if (auto taken = take_field(rest, entries.back()); !taken) return refused(taken.error());
  }
  if (entries.empty()) return refused("nothing in it");
  for (const JournalEntry& entry : entries) {
    if (auto good = check(entry); !good) return refused(good.error());
  }
  return entries;
}

JournalReceiver::JournalReceiver(std::string path)
    : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)), path_(std::move(path)), buffer_(5 * 1024 * 1024, '\0') {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof address.sun_path) throw std::runtime_error("too long for a socket: " + path_);
  std::memcpy(address.sun_path, path_.data(), path_.size());
  ::unlink(path_.c_str());
  int on = 1;
  if (::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::setsockopt(fd_, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
    throw std::runtime_error("cannot listen at " + path_ + ": " + std::strerror(errno));
  }
}

JournalReceiver::~JournalReceiver() { ::close(fd_); }

tl::expected<std::string, std::string> JournalReceiver::take_bytes() {
  iovec bytes{buffer_.data(), buffer_.size()};
  alignas(cmsghdr) char control[256];
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n = ::recvmsg(fd_, &message, MSG_CMSG_CLOEXEC);
  if (n < 0) return refused(errno == EAGAIN ? "nothing has come" : std::strerror(errno));
  std::vector<int> fds;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET) continue;
    if (head->cmsg_type == SCM_CREDENTIALS) {
      ucred sender{};
      std::memcpy(&sender, CMSG_DATA(head), sizeof sender);
      last_sender_ = static_cast<std::uint32_t>(sender.pid);
    } else if (head->cmsg_type == SCM_RIGHTS) {
      fds.resize((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
      std::memcpy(fds.data(), CMSG_DATA(head), fds.size() * sizeof(int));
    }
  }
  last_was_memfd_ = !fds.empty();
  std::string content(buffer_, 0, static_cast<std::size_t>(n));
  std::string wrong;
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) wrong = "more than there is room for";
  if (n == 0 && fds.empty()) wrong = "nothing in it";
  if (n != 0 && !fds.empty()) wrong = "both bytes and a descriptor";
  if (fds.size() > 1) wrong = "several descriptors";
  if (wrong.empty() && fds.size() == 1) {
    constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    struct stat found {};
    if (::fcntl(fds[0], F_GET_SEALS) != kSeals) {
      wrong = "a descriptor that is not sealed";
    } else if (::fstat(fds[0], &found) != 0 || found.st_size == 0) {
      wrong = "an empty descriptor";
    } else {
      content.resize(static_cast<std::size_t>(found.st_size));
      if (::pread(fds[0], content.data(), content.size(), 0) != found.st_size) wrong = "a descriptor that cannot be read";
    }
  }
  for (int fd : fds) ::close(fd);
  if (!wrong.empty()) return refused(wrong);
  return content;
}

tl::expected<std::vector<JournalEntry>, std::string> JournalReceiver::take() {
  return take_bytes().and_then([](const std::string& bytes) { return parse_journal(bytes); });
}

}  // namespace telltale::test
