// The vendor's collectives between the devices of a group, and the watchdog of their calls.
#pragma once

#include <c10/core/Event.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "dl/communicator.h"
#include "runtime/vendor.h"

namespace dl::core::distributed {

// An enqueued call. It is watched until its stream has completed it or an error ends it.
struct Watched {
  c10::Event end;
  std::chrono::steady_clock::time_point deadline;
  // Converts the vendor's message to the error of the call. The message is empty after a timeout.
  std::function<std::exception_ptr(const std::string& said)> explain;
  std::exception_ptr error{};  // guarded by the communicator's lock
};

struct Span {
  void* memory;
  size_t bytes;
};

class Communicator {
 public:
  // `handle` is the result of the vendor's `create`, and is destroyed together with this object.
  Communicator(int device, void* handle);
  // Waits for enqueued calls until their deadlines, then aborts them.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // Returns the extension if the vendor of the device implements all functions that a group needs,
  // otherwise NULL.
  static const dl_communicator_extension_t* slots_of(int device);
  // Returns a new identifier, for all ranks of a group.
  static std::string new_id(int device);
  // Joins the communicator of `id` and returns its handle.
  static void* join(int device, const std::string& id, int ranks, int rank,
                    std::chrono::milliseconds timeout);

  int device() const { return device_; }
  // Calls a function that enqueues work. Returns false, without enqueuing, if the vendor does not
  // implement it.
  template <typename Slot, typename... Args>
  bool enqueue(Slot dl_communicator_extension_t::* slot, const char* what, Args... args) const {
    const auto function = slots_.*slot;
    return function != nullptr && vendor_.try_extension(function, what, handle_, args...);
  }

  // Enqueues one message to each rank and one from each, in any order. Returns false if the vendor
  // does not implement messages.
  bool exchange(const std::vector<Span>& sent, const std::vector<Span>& received,
                void* stream) const;

  // Adds the call to the watchdog.
  void watch(std::shared_ptr<Watched> call);
  std::exception_ptr error_of(const Watched& call);
  // Throws the first error, after which the communicator is unusable.
  void check_usable();
  void abort();

 private:
  void watch_calls();
  // For both, the caller must hold the lock.
  void poll_errors();
  void fail(const std::string& said);

  const int device_;
  const Vendor& vendor_;
  const dl_communicator_extension_t& slots_;
  void* const handle_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Watched>> waiting_;
  std::exception_ptr failed_;
  bool ending_ = false;
  std::thread watcher_;
};

}  // namespace dl::core::distributed
