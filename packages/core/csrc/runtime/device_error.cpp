#include "runtime/device_error.h"

#include <c10/util/Exception.h>

#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "dl/device_error.hpp"
#include "dl/foreign.hpp"
#include "runtime/device.h"
#include "runtime/stream.h"

namespace dl::core {
namespace {

constexpr dl_device_error_t kClear{};

struct Word {
  dl_device_error_t* memory;
  uint64_t calls;    // number of calls that may write to it
  uint64_t checked;  // number of these that have been checked
};

// Words are allocated once and never freed, like streams.
struct DeviceWords {
  std::atomic<bool> used{false};
  std::mutex mutex;               // guards the members below
  std::map<int64_t, Word> words;  // by stream
  // Words are read on a separate stream, so that a reader does not wait for other work. The stream
  // is created together with the first word.
  void* reader = nullptr;
  // Serializes readers. Separate from the mutex above, which operators take.
  std::mutex reading;
};

DeviceWords& words_of(int device) {
  static auto* all = new std::array<DeviceWords, kMaxDevices>;
  return (*all)[device];
}

void copy(const Device& owner, void* to, const void* from, dl_copy_kind_t kind, void* stream) {
  owner.vendor->call(&dl_vendor_table_t::memory_copy, "memory_copy", owner.local, to, from,
                     static_cast<uint64_t>(sizeof(dl_device_error_t)), static_cast<int32_t>(kind),
                     stream);
}

void synchronize(const Device& owner, void* stream) {
  if (owner.vendor->slots().stream_synchronize == nullptr) {
    owner.vendor->call(&dl_vendor_table_t::device_synchronize, "device_synchronize", owner.local);
  } else {
    owner.vendor->call(&dl_vendor_table_t::stream_synchronize, "stream_synchronize", owner.local,
                       stream);
  }
}

Word make(const Device& owner, DeviceWords& state) {
  void* memory = nullptr;
  owner.vendor->call(&dl_vendor_table_t::memory_allocate, "memory_allocate", owner.local,
                     uint64_t{sizeof(dl_device_error_t) + owner.allocation_padding()}, &memory);
  try {
    // Not the word's own stream, because that may be capturing a graph.
    if (state.reader == nullptr && owner.vendor->slots().stream_create != nullptr) {
      owner.vendor->call(&dl_vendor_table_t::stream_create, "stream_create", owner.local,
                         int32_t{0}, &state.reader);
    }
    copy(owner, memory, &kClear, DL_COPY_HOST_TO_DEVICE, state.reader);
    synchronize(owner, state.reader);
  } catch (...) {
    owner.vendor->call_noexcept(&dl_vendor_table_t::memory_free, "memory_free", owner.local,
                                memory);
    throw;
  }
  return {static_cast<dl_device_error_t*>(memory), 0, 0};
}

c10::Stream stream_of(int device, int64_t id) {
  return c10::Stream(c10::Stream::UNSAFE,
                     c10::Device(kDeviceType, static_cast<c10::DeviceIndex>(device)), id);
}

// Reads and clears the word of a stream, if one of its first `calls` calls has reported an error.
dl_device_error_t take(const Device& owner, DeviceWords& state, c10::Stream stream,
                       uint64_t calls) {
  const auto locked = [&](auto&& body) {
    const std::lock_guard<std::mutex> guard(state.mutex);
    return body(state.words.at(stream.id()));
  };
  const Word word = locked([](const Word& found) { return found; });
  if (calls <= word.checked) return kClear;
  dl_device_error_t error;
  copy(owner, &error, word.memory, DL_COPY_DEVICE_TO_HOST, state.reader);
  if (error.state != DL_DEVICE_ERROR_RAISED) {
    locked([&](Word& found) { found.checked = calls; });
    return kClear;
  }
  // Later calls may still run: the fields may have been read before `state` was set.
  copy(owner, &error, word.memory, DL_COPY_DEVICE_TO_HOST, state.reader);
  // In stream order and without synchronization, because later calls follow on the same stream.
  copy(owner, word.memory, &kClear, DL_COPY_HOST_TO_DEVICE, native_stream(stream));
  locked([](Word& found) { found.checked = found.calls; });
  return error;
}

template <typename Base>
class Late : public Base, public LateError {
 public:
  using Base::Base;
};

[[noreturn]] void throw_error(const Device& owner, int device, const dl_device_error_t& error) {
  const std::string_view name(error.operator_name,
                              strnlen(error.operator_name, sizeof error.operator_name));
  const c10::SourceLocation where{__func__, __FILE__, static_cast<uint32_t>(__LINE__)};
  std::string text =
      c10::str("[", foreign::printable(name), "] ", foreign::printable(device_error_text(error)),
               " (dl:", device, ", vendor ", owner.vendor->name(),
               "; detected at a synchronization of the stream, after the call had returned)");
  if (error.kind == DL_DEVICE_ERROR_INDEX) throw Late<c10::IndexError>(where, std::move(text));
  throw Late<c10::Error>(where, std::move(text));
}

}  // namespace

dl_device_error_t* error_word(c10::Stream stream) noexcept {
  const Device& owner = device_unchecked(stream.device_index());
  if (owner.synchronous) return nullptr;
  DeviceWords& state = words_of(stream.device_index());
  try {
    const std::lock_guard<std::mutex> guard(state.mutex);
    auto found = state.words.find(stream.id());
    if (found == state.words.end())
      found = state.words.emplace(stream.id(), make(owner, state)).first;
    return found->second.memory;
  } catch (...) {
    return nullptr;
  }
}

void note_checked_call(c10::Stream stream) noexcept {
  DeviceWords& state = words_of(stream.device_index());
  const std::lock_guard<std::mutex> guard(state.mutex);
  ++state.words.at(stream.id()).calls;
  state.used.store(true, std::memory_order_relaxed);
}

ErrorMark::ErrorMark(c10::Stream stream) : device_(stream.device_index()) {
  DeviceWords& state = words_of(device_);
  if (!state.used.load(std::memory_order_relaxed)) return;
  const std::lock_guard<std::mutex> guard(state.mutex);
  const auto found = state.words.find(stream.id());
  if (found == state.words.end() || found->second.calls == found->second.checked) return;
  calls_.emplace_back(stream.id(), found->second.calls);
}

ErrorMark::ErrorMark(int device) : device_(device) {
  DeviceWords& state = words_of(device);
  if (!state.used.load(std::memory_order_relaxed)) return;
  const std::lock_guard<std::mutex> guard(state.mutex);
  for (const auto& [id, word] : state.words)
    if (word.calls != word.checked) calls_.emplace_back(id, word.calls);
}

void ErrorMark::raise() const {
  if (C10_LIKELY(calls_.empty())) return;
  const Device& owner = device_unchecked(device_);
  DeviceWords& state = words_of(device_);
  dl_device_error_t error = kClear;
  {
    const std::lock_guard<std::mutex> guard(state.reading);
    for (const auto& [id, calls] : calls_) {
      error = take(owner, state, stream_of(device_, id), calls);
      if (error.state != DL_DEVICE_ERROR_NONE) break;
    }
  }
  if (error.state != DL_DEVICE_ERROR_NONE) throw_error(owner, device_, error);
}

}  // namespace dl::core
