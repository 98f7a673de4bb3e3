// The vendor's own collectives between the devices of a group, and the watch over them.
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

// One call that was enqueued, until its stream has done it or an error ends it.
struct Watched {
  c10::Event end;
  std::chrono::steady_clock::time_point deadline;
  // Makes of a vendor's words, or of none where the time is over, the error of the call.
  std::function<std::exception_ptr(const std::string& said)> explain;
  std::exception_ptr error{};  // guarded by the communicator
};

struct Span {
  void* memory;
  size_t bytes;
};

class Communicator {
 public:
  // `handle` is what the vendor's `create` gave, and is destroyed with this object.
  Communicator(int device, void* handle);
  // Waits for what was enqueued, until its deadline; then aborts it.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // The extension, if the vendor of the device has all of it that a group needs; else NULL.
  static const dl_communicator_extension_t* slots_of(int device);

  int device() const { return device_; }
  // Calls a slot that enqueues. False, and nothing was enqueued, where the vendor does not offer
  // this call.
  template <typename Slot, typename... Args>
  bool enqueue(Slot dl_communicator_extension_t::* slot, const char* what, Args... args) const {
    const auto function = slots_.*slot;
    return function != nullptr && vendor_.try_extension(function, what, handle_, args...);
  }

  // Enqueues a message to each rank and one from each, which together wait for nothing but each
  // other. False where the vendor has no messages.
  bool exchange(const std::vector<Span>& sent, const std::vector<Span>& received,
                void* stream) const;

  // From now on the errors of the call are looked for.
  void watch(std::shared_ptr<Watched> call);
  std::exception_ptr error_of(const Watched& call);
  // Throws the first error: nothing works after it.
  void check_usable();
  void abort();

 private:
  void watch_calls();
  // Both with the lock held.
  void look();
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
