#include "distributed/communicator.h"

#include "contract/dtype.h"
#include "runtime/device.h"
#include "runtime/host.h"

namespace dl::core::distributed {
namespace {

// Polling interval for errors.
constexpr std::chrono::milliseconds kPollInterval{20};

std::string text_of(const c10::Error& error) {
  std::string text = error.what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

}  // namespace

const dl_communicator_extension_t* Communicator::slots_of(int index) {
  const Device& owner = dl::core::device(index);
  if (owner.synchronous) return nullptr;
  const auto* slots = owner.vendor->extension<dl_communicator_extension_t>(DL_EXT_COMMUNICATOR);
  if (slots == nullptr || slots->unique_id == nullptr || slots->create == nullptr ||
      slots->destroy == nullptr || slots->abort == nullptr || slots->check == nullptr)
    return nullptr;
  return slots;
}

Communicator::Communicator(int index, void* handle)
    : device_(index),
      vendor_(*dl::core::device(index).vendor),
      slots_(*slots_of(index)),
      handle_(handle),
      watcher_([this] { watch_calls(); }) {}

Communicator::~Communicator() {
  if (in_bad_fork()) {
    watcher_.detach();
    return;
  }
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  watcher_.join();
  try {
    vendor_.call_extension(slots_.destroy, "communicator.destroy", handle_);
  } catch (const c10::Error& error) {
    TORCH_WARN(text_of(error));
  }
}

bool Communicator::exchange(const std::vector<Span>& sent, const std::vector<Span>& received,
                            void* stream) const {
  if (slots_.group_begin == nullptr || slots_.group_end == nullptr || slots_.send == nullptr ||
      slots_.receive == nullptr)
    return false;
  constexpr int32_t kBytes = diopi_dtype_uint8;
  vendor_.call_extension(slots_.group_begin, "communicator.group_begin");
  try {
    for (size_t i = 0; i < sent.size(); ++i) {
      const auto peer = static_cast<int32_t>(i);
      if (sent[i].bytes > 0)
        vendor_.call_extension(slots_.send, "communicator.send", handle_,
                               static_cast<const void*>(sent[i].memory),
                               static_cast<uint64_t>(sent[i].bytes), kBytes, peer, stream);
      if (received[i].bytes > 0)
        vendor_.call_extension(slots_.receive, "communicator.receive", handle_, received[i].memory,
                               static_cast<uint64_t>(received[i].bytes), kBytes, peer, stream);
    }
  } catch (...) {
    // A group that was begun must be ended.
    vendor_.call_extension(slots_.group_end, "communicator.group_end");
    throw;
  }
  vendor_.call_extension(slots_.group_end, "communicator.group_end");
  return true;
}

void Communicator::watch(std::shared_ptr<Watched> call) {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    waiting_.push_back(std::move(call));
  }
  changed_.notify_all();
}

std::exception_ptr Communicator::error_of(const Watched& call) {
  const std::lock_guard<std::mutex> guard(mutex_);
  return call.error;
}

void Communicator::check_usable() {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (failed_ != nullptr) std::rethrow_exception(failed_);
}

void Communicator::abort() { vendor_.call_extension(slots_.abort, "communicator.abort", handle_); }

// Returns after all calls have ended, each at its deadline at the latest.
void Communicator::watch_calls() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ending_ || !waiting_.empty()) {
    if (waiting_.empty())
      changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    else
      changed_.wait_for(lock, kPollInterval);
    poll_errors();
  }
}

void Communicator::poll_errors() {
  try {
    vendor_.call_extension(slots_.check, "communicator.check", handle_);
    while (!waiting_.empty() && waiting_.front()->end.query()) waiting_.pop_front();
  } catch (const c10::Error& error) {
    fail(text_of(error));
    return;
  } catch (const std::exception& error) {
    fail(error.what());
    return;
  }
  if (!waiting_.empty() && std::chrono::steady_clock::now() > waiting_.front()->deadline) fail("");
}

void Communicator::fail(const std::string& said) {
  if (failed_ == nullptr && !waiting_.empty()) failed_ = waiting_.front()->explain(said);
  for (const auto& call : waiting_) call->error = failed_;
  waiting_.clear();
  try {
    // Abort all other pending work of the communicator, and the streams that wait for it.
    abort();
  } catch (const c10::Error& error) {
    TORCH_WARN(text_of(error));
  }
}

}  // namespace dl::core::distributed
