#include "extensions/wire.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "error.h"

namespace dl::async_test {
namespace {

/** An abstract address: not a file, and removed with the socket. */
std::pair<sockaddr_un, socklen_t> address_of(const Nonce& nonce) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::string name = "dl_vendor_async_test/";
  for (uint8_t byte : nonce) {
    name += "0123456789abcdef"[byte / 16];
    name += "0123456789abcdef"[byte % 16];
  }
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())};
}

File new_socket() {
  File made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!made.is_open())
    throw Error(DL_ERROR, std::string("cannot create a socket: ") + strerror(errno), "socket");
  return made;
}

[[noreturn]] void fail_gone(int32_t process) {
  throw Error(DL_UNAVAILABLE, "process " + std::to_string(process) +
                                  " has ended, and with it its part of the communicator");
}

}  // namespace

File listen_as(const Nonce& nonce) {
  File listener = new_socket();
  const auto [address, size] = address_of(nonce);
  if (bind(listener.number(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      listen(listener.number(), SOMAXCONN) != 0)
    throw Error(DL_ERROR, std::string("cannot wait for a rank: ") + strerror(errno), "bind");
  return listener;
}

Connection Connection::to(const WorldName& name) {
  File made = new_socket();
  const auto [address, size] = address_of(name.nonce);
  if (connect(made.number(), reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    throw Error(DL_UNAVAILABLE, "process " + std::to_string(name.process) +
                                    ", which made the id, cannot be reached: it has ended, or is "
                                    "on another machine");
  }
  Connection found(std::move(made));
  if (found.process_ != name.process) fail_gone(name.process);
  return found;
}

Connection::Connection(File socket) : socket_(std::move(socket)) {
  ucred other = {};
  socklen_t size = sizeof other;
  if (getsockopt(socket_.number(), SOL_SOCKET, SO_PEERCRED, &other, &size) != 0)
    throw Error(DL_ERROR, "the user of the other process is unknown", "getsockopt");
  if (other.uid != geteuid()) {
    throw Error(DL_INVALID_ARGUMENT, "the other rank's process belongs to user " +
                                         std::to_string(other.uid) + ", and this is " +
                                         std::to_string(geteuid()) +
                                         "; only processes of one user make a communicator");
  }
  process_ = other.pid;
  // A socket alone stays open in processes that its owner has forked.
  end_ = File(static_cast<int>(syscall(SYS_pidfd_open, other.pid, 0)));
  if (!end_.is_open() && errno == ESRCH) fail_gone(process_);
}

bool Connection::readable() {
  pollfd both[] = {{socket_.number(), POLLIN, 0}, {end_.number(), POLLIN, 0}};
  while (poll(both, 2, -1) < 0 && errno == EINTR) {
  }
  // Data sent before its end can still be read.
  return both[0].revents != 0;
}

void Connection::send(const void* bytes, size_t size) {
  const auto* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t sent = ::send(socket_.number(), next, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) fail_gone(process_);
    next += sent;
    size -= static_cast<size_t>(sent);
  }
}

void Connection::receive(void* bytes, size_t size) {
  auto* next = static_cast<char*>(bytes);
  while (size > 0) {
    if (!readable()) fail_gone(process_);
    const ssize_t received = recv(socket_.number(), next, size, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) fail_gone(process_);
    next += received;
    size -= static_cast<size_t>(received);
  }
}

void Connection::reply(int32_t code, const std::string& message) {
  const Reply head = {code, static_cast<uint32_t>(message.size())};
  send(&head, sizeof head);
  send(message.data(), message.size());
}

void Connection::receive_reply() {
  Reply head;
  receive(&head, sizeof head);
  std::string message(std::min<uint32_t>(head.message_bytes, 4096), '\0');
  receive(message.data(), message.size());
  if (head.code != DL_OK) throw Error(static_cast<dl_code_t>(head.code), message);
}

void Connection::wait_for_end() {
  char byte;
  while (readable()) {
    const ssize_t received = recv(socket_.number(), &byte, 1, 0);
    if (received == 0 || (received < 0 && errno != EINTR)) return;
  }
}

void Connection::close() { shutdown(socket_.number(), SHUT_RDWR); }

}  // namespace dl::async_test
