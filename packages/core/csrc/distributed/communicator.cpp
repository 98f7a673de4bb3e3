#include "distributed/communicator.h"

#include "contract/dtype.h"
#include "runtime/device.h"
#include "runtime/host.h"

namespace dl::core::distributed {
namespace {

// Polling interval for errors.
constexpr std::chrono::milliseconds kPollInterval{20};

// Returns true if the vendor's identifiers may have any size.
bool is_sized(const dl_communicator_extension_t& slots) {
  return slots.id_size != nullptr && slots.sized_unique_id != nullptr &&
         slots.sized_create != nullptr;
}

size_t id_size(const Device& owner, const dl_communicator_extension_t& slots) {
  if (!is_sized(slots)) return sizeof(dl_communicator_id_t);
  uint64_t bytes = 0;
  owner.vendor->call_extension(slots.id_size, "communicator.id_size", &bytes);
  return bytes;
}

std::string text_of(const c10::Error& error) {
  std::string text = error.what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

}  // namespace

const dl_communicator_extension_t* Communicator::slots_of(int index) {
  const Device& owner = dl::core::device(index);
  if (owner.synchronous) return nullptr;
  const auto* slots = owner.vendor->extension<dl_communicator_extension_t>(DL_EXT_COMMUNICATOR);
  if (slots == nullptr || slots->destroy == nullptr || slots->abort == nullptr ||
      slots->check == nullptr)
    return nullptr;
  const bool joins = is_sized(*slots) || (slots->unique_id != nullptr && slots->create != nullptr);
  return joins ? slots : nullptr;
}

std::string Communicator::new_id(int index) {
  const Device& owner = dl::core::device(index);
  const auto& slots = *slots_of(index);
  std::string id(id_size(owner, slots), '\0');
  if (is_sized(slots)) {
    owner.vendor->call_extension(slots.sized_unique_id, "communicator.sized_unique_id",
                                 static_cast<void*>(id.data()), uint64_t{id.size()});
  } else {
    owner.vendor->call_extension(slots.unique_id, "communicator.unique_id",
                                 reinterpret_cast<dl_communicator_id_t*>(id.data()));
  }
  return id;
}

void* Communicator::join(int index, const std::string& id, int ranks, int rank,
                         std::chrono::milliseconds timeout) {
  const Device& owner = dl::core::device(index);
  const auto& slots = *slots_of(index);
  const size_t bytes = id_size(owner, slots);
  TORCH_CHECK(id.size() == bytes, "[dicl] rank 0 sent a communicator id of ", id.size(),
              " bytes, but vendor ", owner.vendor->name(), " expects ", bytes,
              "; install the same release of its wheel on all ranks");
  const double seconds = static_cast<double>(timeout.count()) / 1000;
  void* handle = nullptr;
  if (is_sized(slots)) {
    owner.vendor->call_extension(slots.sized_create, "communicator.sized_create", owner.local,
                                 static_cast<const void*>(id.data()), uint64_t{bytes}, ranks, rank,
                                 seconds, &handle);
  } else {
    owner.vendor->call_extension(slots.create, "communicator.create", owner.local,
                                 reinterpret_cast<const dl_communicator_id_t*>(id.data()), ranks,
                                 rank, seconds, &handle);
  }
  return handle;
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
