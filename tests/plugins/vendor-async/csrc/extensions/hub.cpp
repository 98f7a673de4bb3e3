#include "extensions/hub.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "error.h"
#include "extensions/wire.h"
#include "signals.h"

namespace dl::async_test {
namespace {

/** Where other processes find this one. */
struct Hub {
  pid_t process = getpid();
  Nonce nonce = new_nonce();
  File listener = listen_as(nonce);
};

// Never destroyed: its threads run until the process has ended.
std::mutex& mutex = *new std::mutex;
Hub* hub = nullptr;

void check(const Request& request) {
  const bool message = request.kind == Request::kCall && request.terms.kind == Terms::kMessage;
  const auto rank_fits = [&](int32_t rank) { return rank >= 0 && rank < request.ranks; };
  bool fits = request.ranks >= 1 && request.ranks <= 1024 && rank_fits(request.rank);
  if (message) {
    fits = fits && rank_fits(request.from) && rank_fits(request.to) &&
           ((request.place == 0 && request.rank == request.from) ||
            (request.place == 1 && request.rank == request.to));
  } else if (request.kind == Request::kCall) {
    fits = fits && request.from == -1 && request.to == -1 && request.place == request.rank &&
           request.terms.root < request.ranks;
  }
  if (!fits) throw Error(DL_INVALID_ARGUMENT, "the ranks of the request do not fit together");
}

void serve_join(Connection& other, const Request& request, World& world) {
  world.join(request.rank, request.seconds);
  try {
    other.reply(DL_OK, {});
    other.wait_for_end();
  } catch (const Error&) {
    // The rank has already ended.
  }
  world.leave(request.rank);
}

/** The bytes of a rank in another process. */
struct Bytes {
  std::vector<std::byte> send, receive;
};

void serve_call(Connection& other, const Request& request, World& world) {
  auto bytes = std::make_shared<Bytes>();
  std::shared_ptr<Meeting> meeting;
  try {
    const ShareBytes sizes = share_bytes(request.terms, request.ranks, request.rank, request.place);
    bytes->send.resize(sizes.send);
    bytes->receive.resize(sizes.receive);
    other.receive(bytes->send.data(), sizes.send);
    const auto address = [](std::vector<std::byte>& of) {
      return of.empty() ? nullptr : of.data();
    };
    meeting = world.come({request.from, request.to, request.index}, request.place, request.terms,
                         {address(bytes->send), address(bytes->receive), bytes});
  } catch (const std::exception&) {
    world.abort(request.rank);  // the other ranks wait for this one
    throw;
  }
  world.finish(meeting);
  other.reply(DL_OK, {});
  other.send(bytes->receive.data(), bytes->receive.size());
}

void answer(Connection& other) {
  Request request;
  other.receive(&request, sizeof request);
  if (!is_hub(request.nonce)) return;
  check(request);
  const auto world = local_world(request.number, request.ranks);
  switch (request.kind) {
    case Request::kJoin:
      return serve_join(other, request, *world);
    case Request::kCall:
      return serve_call(other, request, *world);
    case Request::kAbort:
      world->abort(request.rank);
      return other.reply(DL_OK, {});
  }
}

/** One request of one rank; a rank that has joined stays connected. */
void serve(File socket) noexcept {
  try {
    Connection other(std::move(socket));
    try {
      answer(other);
    } catch (const Error& error) {
      other.reply(error.code(), error.what());
    } catch (const std::exception& error) {
      other.reply(DL_ERROR, error.what());
    }
  } catch (const std::exception&) {
    // The process belongs to another user, or has ended.
  }
}

void accept_all(const File& listener) {
  while (true) {
    File socket(accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.is_open()) {
      poll(nullptr, 0, 10);  // too many files are open for now
      continue;
    }
    try {
      std::thread(serve, std::move(socket)).detach();
    } catch (const std::exception&) {
      // Too many threads: the other side sees a closed connection.
    }
  }
}

}  // namespace

Nonce open_hub() {
  const std::lock_guard lock(mutex);
  // The parent's hub belongs to the parent.
  if (hub == nullptr || hub->process != getpid()) {
    auto made = std::make_unique<Hub>();
    const SignalsBlocked blocked;
    std::thread(accept_all, std::cref(made->listener)).detach();
    hub = made.release();
  }
  return hub->nonce;
}

bool is_hub(const Nonce& nonce) {
  const std::lock_guard lock(mutex);
  return hub != nullptr && hub->process == getpid() && hub->nonce == nonce;
}

}  // namespace dl::async_test
