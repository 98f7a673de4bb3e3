// One NCCL communicator. Its calls are non-blocking: slow operations, such as connecting to other
// ranks, are waited for here, where an abort ends the wait.
#ifndef DL_KIT_NCCL_COMMUNICATOR_H_
#define DL_KIT_NCCL_COMMUNICATOR_H_

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dl/communicator.h"
#include "dl/kit/base.h"
#include "dl/kit/nccl.h"
#include "dl/kit/status.h"

DL_KIT_BEGIN

class NcclCommunicator {
 public:
  const int32_t device, ranks, rank;

  // Waits for all ranks, for at most `seconds` if that is positive. Throws Error.
  NcclCommunicator(Nccl& library, const dl_communicator_id_t& id, int32_t its_device,
                   int32_t its_ranks, int32_t its_rank, double seconds)
      : device(its_device), ranks(its_ranks), rank(its_rank), nccl_(library) {
    nccl::UniqueId name;
    static_assert(sizeof name == sizeof id, "the contract's ids must have the size of NCCL's");
    std::memcpy(&name, &id, sizeof name);
    nccl::Config config;
    std::unique_lock<std::mutex> lock(mutex_);
    const Clock::time_point end = seconds > 0
                                      ? Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                           std::chrono::duration<double>(seconds))
                                      : Clock::time_point::max();
    const int result = nccl_.init(&handle_, ranks, name, rank, &config);
    try {
      settle(lock, result, "ncclCommInitRankConfig", end);
    } catch (const Error&) {
      if (handle_ != nullptr) (void)nccl_.abort(std::exchange(handle_, nullptr));
      throw;
    }
  }
  ~NcclCommunicator() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (handle_ == nullptr) return;
    try {
      settle(lock, nccl_.finalize(handle_), "ncclCommFinalize", Clock::time_point::max());
      if (handle_ != nullptr) (void)nccl_.destroy(std::exchange(handle_, nullptr));
    } catch (...) {
      if (handle_ != nullptr) (void)nccl_.abort(std::exchange(handle_, nullptr));
    }
  }
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  void abort() {
    const std::lock_guard<std::mutex> lock(mutex_);
    aborted_ = true;
    if (handle_ == nullptr) return;
    const int result = nccl_.abort(std::exchange(handle_, nullptr));
    if (result != nccl::kSuccess && result != nccl::kInProgress) fail(result, "ncclCommAbort");
  }
  bool aborted() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return aborted_;
  }

  // Throws the first error of the enqueued work.
  void check() {
    const std::lock_guard<std::mutex> lock(mutex_);
    usable();
    int state = nccl::kSuccess;
    const int asked = nccl_.async_error(handle_, &state);
    if (asked != nccl::kSuccess) fail(asked, "ncclCommGetAsyncError");
    if (state != nccl::kSuccess && state != nccl::kInProgress) fail(state, "a collective");
  }

  // Runs `enqueue(handle)` as a group of its own, or as part of the thread's open group.
  template <class Enqueue>
  void call(const char* operation, const Enqueue& enqueue) {
    std::unique_lock<std::mutex> lock(mutex_);
    usable();
    const int result = enqueue(handle_);
    if (group().depth > 0) {
      group().add(this);
      if (result != nccl::kSuccess && result != nccl::kInProgress) fail(result, operation);
      return;
    }
    settle(lock, result, operation, Clock::time_point::max());
  }

  static void group_begin(Nccl& library) {
    const int result = library.group_start();
    if (result != nccl::kSuccess) throw error_of(library, nullptr, result, "ncclGroupStart");
    ++group().depth;
  }
  static void group_end(Nccl& library) {
    Group& own = group();
    if (own.depth == 0)
      throw Error(DL_INVALID_ARGUMENT, "this thread has not begun a group; call group_begin first");
    if (--own.depth > 0) {
      const int result = library.group_end();
      if (result != nccl::kSuccess && result != nccl::kInProgress)
        throw error_of(library, nullptr, result, "ncclGroupEnd");
      return;
    }
    // In the same order on all threads, to avoid deadlocks.
    std::vector<NcclCommunicator*> members = std::move(own.members);
    own.members.clear();
    std::sort(members.begin(), members.end());
    std::vector<std::unique_lock<std::mutex>> locks;
    for (NcclCommunicator* each : members) locks.emplace_back(each->mutex_);
    const int result = library.group_end();
    for (size_t i = 0; i < members.size(); ++i)
      members[i]->settle(locks[i], result, "ncclGroupEnd", Clock::time_point::max());
    if (members.empty() && result != nccl::kSuccess)
      throw error_of(library, nullptr, result, "ncclGroupEnd");
  }

 private:
  using Clock = std::chrono::steady_clock;

  // The thread's open group.
  struct Group {
    int depth = 0;
    std::vector<NcclCommunicator*> members;
    void add(NcclCommunicator* one) {
      if (std::find(members.begin(), members.end(), one) == members.end()) members.push_back(one);
    }
  };
  static Group& group() {
    thread_local Group own;
    return own;
  }

  static Error error_of(Nccl& library, nccl::Communicator handle, int result,
                        const char* operation) {
    std::string text = library.error_string(result);
    const char* more = library.last_error(handle);
    if (more != nullptr && *more != '\0') text += std::string(": ") + more;
    const bool callers = result == nccl::kInvalidArgument || result == nccl::kInvalidUsage;
    return {callers ? DL_INVALID_ARGUMENT : DL_ERROR,
            text + " (NCCL_DEBUG=WARN makes NCCL print details)", operation};
  }
  [[noreturn]] void fail(int result, const char* operation) {
    throw error_of(nccl_, handle_, result, operation);
  }

  void usable() const {
    if (handle_ == nullptr)
      throw Error(DL_INVALID_ARGUMENT, "the communicator was aborted; create another one");
  }

  // Waits until the operation that returned `result` is complete, and releases the lock between
  // polls.
  void settle(std::unique_lock<std::mutex>& lock, int result, const char* operation,
              Clock::time_point end) {
    constexpr std::chrono::microseconds kFirst{10}, kLongest{2000};
    auto pause = kFirst;
    int state = result;
    while (state == nccl::kInProgress) {
      lock.unlock();
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, kLongest);
      lock.lock();
      usable();
      const int asked = nccl_.async_error(handle_, &state);
      if (asked != nccl::kSuccess) fail(asked, "ncclCommGetAsyncError");
      if (state == nccl::kInProgress && Clock::now() > end)
        throw Error(DL_UNAVAILABLE,
                    "not all of " + std::to_string(ranks) + " ranks connected before the timeout",
                    operation);
    }
    if (state != nccl::kSuccess) fail(state, operation);
  }

  Nccl& nccl_;
  std::mutex mutex_;
  nccl::Communicator handle_ = nullptr;  // null after an abort
  bool aborted_ = false;
};

DL_KIT_END

#endif  // DL_KIT_NCCL_COMMUNICATOR_H_
