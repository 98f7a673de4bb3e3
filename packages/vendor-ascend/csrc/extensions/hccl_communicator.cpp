#include "extensions/hccl_communicator.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "runtime/api.h"
#include "runtime/driver.h"

namespace dl::ascend {
namespace {

// Makes a device current on this thread. Throws Error.
void make_current(int32_t device) {
  if (const acl::Code code = the_driver().device_set(device))
    throw kit::Error(Api::code(code), describe(code), "aclrtSetDevice");
}

kit::Error late(int32_t ranks) {
  return {DL_UNAVAILABLE,
          "not all of " + std::to_string(ranks) + " ranks connected before the timeout",
          "HcclCommInitRootInfo"};
}

std::string describe_status(hccl::Library& library, int status, const std::string& text) {
  const char* const name = library.error_string(status);
  return std::string(name == nullptr ? "an error" : name) + " (" + std::to_string(status) + ")" +
         (text.empty() ? "" : ": " + text);
}

// A thread that joins a communicator, and its result.
struct Joining {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false, abandoned = false;
  std::exception_ptr failure;
  hccl::Communicator handle = nullptr;
};

// Waits for all ranks. Throws Error.
hccl::Communicator join(hccl::Library& library, const hccl::RootInfo& root, int32_t device,
                        int32_t ranks, int32_t rank) {
  make_current(device);
  hccl::Communicator handle = nullptr;
  const int status =
      library.init(static_cast<uint32_t>(ranks), &root, static_cast<uint32_t>(rank), &handle);
  if (status == hccl::kTimeout) throw late(ranks);
  if (status != hccl::kSuccess)
    throw HcclCommunicator::error_of(library, status, "HcclCommInitRootInfo");
  return handle;
}

}  // namespace

HcclCommunicator::HcclCommunicator(hccl::Library& library, const hccl::RootInfo& root,
                                   int32_t its_device, int32_t its_ranks, int32_t its_rank,
                                   double seconds)
    : device(its_device), ranks(its_ranks), rank(its_rank), library_(library) {
  const auto joining = std::make_shared<Joining>();
  // HCCL has a timeout of its own (HCCL_CONNECT_TIMEOUT), after which an abandoned thread ends.
  std::thread([&library, joining, root, its_device, its_ranks, its_rank] {
    hccl::Communicator handle = nullptr;
    std::exception_ptr failure;
    try {
      handle = join(library, root, its_device, its_ranks, its_rank);
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard<std::mutex> lock(joining->mutex);
    if (joining->abandoned && handle != nullptr) (void)library.destroy(handle);
    joining->done = true;
    joining->failure = failure;
    joining->handle = handle;
    joining->changed.notify_all();
  }).detach();
  std::unique_lock<std::mutex> lock(joining->mutex);
  const auto done = [&joining] { return joining->done; };
  if (seconds > 0) {
    joining->changed.wait_for(lock, std::chrono::duration<double>(seconds), done);
  } else {
    joining->changed.wait(lock, done);
  }
  joining->abandoned = !joining->done;
  if (joining->abandoned) throw late(ranks);
  if (joining->failure != nullptr) std::rethrow_exception(joining->failure);
  handle_ = joining->handle;
}

HcclCommunicator::~HcclCommunicator() {
  (void)the_driver().device_set(device);
  (void)library_.destroy(handle_);
}

void HcclCommunicator::abort() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (std::exchange(aborted_, true) || !library_.suspend.available()) return;
  make_current(device);
  if (const int status = library_.suspend(handle_))
    throw error_of(library_, status, "HcclCommSuspend");
}

bool HcclCommunicator::aborted() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return aborted_;
}

void HcclCommunicator::check() {
  const std::lock_guard<std::mutex> lock(mutex_);
  check_usable();
  int state = hccl::kSuccess;
  if (const int status = library_.async_error(handle_, &state))
    throw error_of(library_, status, "HcclGetCommAsyncError");
  if (state != hccl::kSuccess) throw error_of(library_, state, "a collective");
}

kit::Error HcclCommunicator::error_of(hccl::Library& library, int status, const char* operation) {
  const bool is_caller = status == hccl::kInvalidParameter || status == hccl::kNullPointer;
  const dl_code_t code = status == hccl::kUnsupported ? DL_NOT_SUPPORTED
                         : is_caller                  ? DL_INVALID_ARGUMENT
                                                      : DL_ERROR;
  return {code, describe_status(library, status, take_error_text()), operation};
}

void HcclCommunicator::check_usable() const {
  if (aborted_)
    throw kit::Error(DL_INVALID_ARGUMENT, "the communicator was aborted; create another one");
}

}  // namespace dl::ascend
