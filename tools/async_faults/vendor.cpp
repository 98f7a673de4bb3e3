// A vendor that forwards every call to the asynchronous library that DL_FAULT_LIBRARY names, and
// spoils one action of its runtime or of its operators: DL_FAULT names it. faults.yaml says what
// each fault is.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../forwarding_vendor.hpp"
#include "dl/context.h"
#include "dl/handles.h"
#include "dl/operator.hpp"
#include "dl/vendor.h"

namespace faulty {
namespace {

constexpr uint64_t kScratchBytes = 64 << 10;
constexpr uint64_t kDelayBytes = 32 << 20;
constexpr uint64_t kCellBytes = 4096;  // the blocks that the suite's checks observe

std::string fault;

bool is(const char* name) { return fault == name; }

// Guards everything below that is not atomic.
std::recursive_mutex mutex;
using Lock = std::lock_guard<std::recursive_mutex>;

// A stream on each device that only the fault uses.
void* own_stream(dl_vendor_t* vendor, int32_t device, int number = 0) {
  static std::map<std::pair<int32_t, int>, void*> streams;
  const Lock lock(mutex);
  void*& stream = streams[{device, number}];
  if (stream == nullptr) inner->stream_create(vendor, device, 0, &stream);
  return stream;
}

// Makes `later` wait for the work that is now in `earlier`.
void join(dl_vendor_t* vendor, int32_t device, void* earlier, void* later) {
  void* event = nullptr;
  inner->event_create(vendor, device, 0, &event);
  inner->event_record(vendor, device, event, earlier);
  inner->stream_wait_event(vendor, device, later, event);
  inner->event_destroy(vendor, device, event);
}

void* scratch(dl_vendor_t* vendor, int32_t device, uint64_t bytes, int number = 0) {
  static std::map<std::pair<int32_t, int>, void*> blocks;
  const Lock lock(mutex);
  void*& block = blocks[{device, number}];
  if (block == nullptr) inner->memory_allocate(vendor, device, bytes, &block);
  return block;
}

// Enqueues slow work.
void delay(dl_vendor_t* vendor, int32_t device, void* stream) {
  void* block = scratch(vendor, device, kDelayBytes, 1);
  inner->memory_set(vendor, device, block, 0, kDelayBytes, stream);
}

// Calls that a fault defers until something waits for their stream, or forever.
using Call = std::function<dl_status_t*()>;
std::map<void*, std::vector<Call>> put_off;

dl_status_t* catch_up(void* stream) {
  const Lock lock(mutex);
  std::vector<Call> calls;
  calls.swap(put_off[stream]);
  for (const Call& call : calls)
    if (dl_status_t* status = call()) return status;
  return nullptr;
}

// The stream on which a fault enqueues instead of the requested one.
void* stray(const char* name, void* stream) { return is(name) ? nullptr : stream; }

// The first thread that enqueued on each stream, for faults that distinguish threads.
std::map<void*, std::thread::id> first_thread;
bool is_second_thread(void* stream) {
  const Lock lock(mutex);
  const auto found = first_thread.emplace(stream, std::this_thread::get_id()).first;
  return found->second != std::this_thread::get_id();
}

// Streams.

std::map<void*, int32_t> priorities;

dl_status_t* stream_create(dl_vendor_t* vendor, int32_t device, int32_t priority, void** stream) {
  dl_status_t* status = inner->stream_create(vendor, device, priority, stream);
  const Lock lock(mutex);
  if (status == nullptr) {
    priorities[*stream] = priority;
    (void)is_second_thread(*stream);
  }
  return status;
}

dl_status_t* stream_destroy(dl_vendor_t* vendor, int32_t device, void* stream) {
  {
    const Lock lock(mutex);
    put_off.erase(stream);
    priorities.erase(stream);
    first_thread.erase(stream);
  }
  return inner->stream_destroy(vendor, device, stream);
}

dl_status_t* stream_synchronize(dl_vendor_t* vendor, int32_t device, void* stream) {
  if (dl_status_t* status = catch_up(stream)) return status;
  if (is("stream-synchronize-empty")) return nullptr;
  if (is("stream-synchronize-default-stream-empty") && stream == nullptr) return nullptr;
  if (is("stream-synchronize-waits-for-the-default-stream")) stream = nullptr;
  if (is("stream-synchronize-in-one-thread") && is_second_thread(stream)) return nullptr;
  if (is("stream-synchronize-of-the-first-device") && stream == nullptr) {
    if (inner->device_set != nullptr) inner->device_set(vendor, 0);
    return inner->stream_synchronize(vendor, 0, nullptr);
  }
  if (is("operator-joined-by-synchronize-alone") || is("operator-on-a-stream-of-its-own"))
    inner->stream_synchronize(vendor, device, own_stream(vendor, device));
  return inner->stream_synchronize(vendor, device, stream);
}

dl_status_t* stream_query(dl_vendor_t* vendor, int32_t device, void* stream, int32_t* finished) {
  if (is("stream-destroy-drops-work")) {
    const Lock lock(mutex);
    *finished = 0;
    if (!put_off[stream].empty()) return nullptr;
  }
  if (dl_status_t* status = catch_up(stream)) return status;
  if (is("stream-query-of-the-default-stream")) stream = nullptr;
  if (is("stream-query-of-the-first-device") && stream == nullptr) {
    if (inner->device_set != nullptr) inner->device_set(vendor, 0);
    device = 0;
  }
  dl_status_t* status = inner->stream_query(vendor, device, stream, finished);
  if (is("stream-query-always-finished")) *finished = 1;
  if (is("stream-query-never-finished")) *finished = 0;
  if (is("stream-query-inverted")) *finished = *finished == 0;
  if (is("stream-query-in-one-thread") && is_second_thread(stream)) *finished = 1;
  return status;
}

// Events for which streams wait, for faults that defer the wait to the stream's next work.
std::map<void*, std::vector<void*>> waits;

dl_status_t* stream_wait_event(dl_vendor_t* vendor, int32_t device, void* stream, void* event) {
  if (is("wait-event-empty")) return nullptr;
  if (is("wait-event-of-the-default-stream")) stream = nullptr;
  if (is("wait-event-uses-a-later-record") || is("event-destroy-drops-waits")) {
    const Lock lock(mutex);
    waits[stream].push_back(event);
    return nullptr;
  }
  return inner->stream_wait_event(vendor, device, stream, event);
}

// Forwards the deferred waits for an event; NULL: for any event.
void pass_on(dl_vendor_t* vendor, int32_t device, void* stream, void* event) {
  std::vector<void*>& events = waits[stream];
  for (void* each : events)
    if (event == nullptr || each == event) inner->stream_wait_event(vendor, device, stream, each);
  const auto done = [&](void* each) { return event == nullptr || each == event; };
  events.erase(std::remove_if(events.begin(), events.end(), done), events.end());
}

// Called before work is enqueued.
dl_status_t* enter(dl_vendor_t* vendor, int32_t device, void* stream) {
  const Lock lock(mutex);
  pass_on(vendor, device, stream, nullptr);
  if (is("stream-of-high-priority-last") && priorities[stream] < 0)
    for (const auto& [other, priority] : priorities)
      if (priority > 0) join(vendor, device, other, stream);
  return catch_up(stream);
}

dl_status_t* catch_up_all() {
  std::vector<void*> streams;
  const Lock lock(mutex);
  for (const auto& each : put_off) streams.push_back(each.first);
  for (void* stream : streams)
    if (dl_status_t* status = catch_up(stream)) return status;
  return nullptr;
}

dl_status_t* device_synchronize(dl_vendor_t* vendor, int32_t device) {
  if (dl_status_t* status = catch_up_all()) return status;
  if (is("device-synchronize-empty")) return nullptr;
  if (is("device-synchronize-waits-for-the-default-stream"))
    return inner->stream_synchronize(vendor, device, nullptr);
  if (is("device-synchronize-forgets-the-default-stream")) {
    const Lock lock(mutex);
    for (const auto& each : priorities)
      if (each.first != nullptr) inner->stream_synchronize(vendor, device, each.first);
    return nullptr;
  }
  if (is("device-synchronize-of-the-first-device")) {
    if (inner->device_set != nullptr) inner->device_set(vendor, 0);
    device = 0;
  }
  return inner->device_synchronize(vendor, device);
}

// Events.

std::set<void*> recorded;
std::vector<void*> old_events;

dl_status_t* event_create(dl_vendor_t* vendor, int32_t device, uint64_t flags, void** event) {
  const Lock lock(mutex);
  if (is("event-create-reuses-a-record") && !old_events.empty()) {
    *event = old_events.back();
    old_events.pop_back();
    return nullptr;
  }
  return inner->event_create(vendor, device, flags, event);
}

dl_status_t* event_destroy(dl_vendor_t* vendor, int32_t device, void* event) {
  const Lock lock(mutex);
  recorded.erase(event);
  first_thread.erase(event);
  for (auto& each : waits) {
    if (is("wait-event-uses-a-later-record")) pass_on(vendor, device, each.first, event);
    std::vector<void*>& events = each.second;
    events.erase(std::remove(events.begin(), events.end(), event), events.end());
  }
  if (is("event-create-reuses-a-record")) {
    old_events.push_back(event);
    return nullptr;
  }
  return inner->event_destroy(vendor, device, event);
}

dl_status_t* event_record(dl_vendor_t* vendor, int32_t device, void* event, void* stream) {
  if (dl_status_t* status = catch_up(stream)) return status;
  if (is("event-record-empty")) return nullptr;
  if (is("event-record-on-the-default-stream")) stream = nullptr;
  {
    const Lock lock(mutex);
    if (is("event-record-keeps-the-first") && !recorded.insert(event).second) return nullptr;
    if (is("event-synchronize-in-one-thread")) (void)is_second_thread(event);
    if (is("event-destroy-drops-waits"))
      for (auto& each : waits) pass_on(vendor, device, each.first, event);
  }
  return inner->event_record(vendor, device, event, stream);
}

dl_status_t* event_synchronize(dl_vendor_t* vendor, int32_t device, void* event) {
  if (is("event-synchronize-empty")) return nullptr;
  if (is("event-synchronize-in-one-thread") && is_second_thread(event)) return nullptr;
  return inner->event_synchronize(vendor, device, event);
}

dl_status_t* event_query(dl_vendor_t* vendor, int32_t device, void* event, int32_t* finished) {
  dl_status_t* status = inner->event_query(vendor, device, event, finished);
  if (is("event-query-always-finished")) *finished = 1;
  if (is("event-query-never-finished")) *finished = 0;
  return status;
}

dl_status_t* event_elapsed(dl_vendor_t* vendor, int32_t device, void* start, void* end,
                           double* milliseconds) {
  dl_status_t* status = inner->event_elapsed(vendor, device, start, end, milliseconds);
  if (is("event-elapsed-backwards")) *milliseconds = -*milliseconds;
  if (is("event-elapsed-zero")) *milliseconds = 0;
  if (is("event-elapsed-in-seconds")) *milliseconds *= 1e-3;
  if (is("event-elapsed-in-microseconds")) *milliseconds *= 1e3;
  if (is("event-elapsed-constant")) *milliseconds = 1;
  return status;
}

// Memory.

dl_status_t* memory_allocate(dl_vendor_t* vendor, int32_t device, uint64_t bytes, void** memory) {
  dl_status_t* status = inner->memory_allocate(vendor, device, bytes, memory);
  if (status == nullptr && is("allocate-clears-later"))
    return inner->memory_set(vendor, device, *memory, 0, bytes, nullptr);
  return status;
}

dl_status_t* memory_free(dl_vendor_t* vendor, int32_t device, void* memory) {
  if (dl_status_t* status = catch_up_all()) return status;
  return inner->memory_free(vendor, device, memory);
}

dl_status_t* upload(dl_vendor_t* vendor, int32_t device, void* to, const void* from, uint64_t bytes,
                    void* stream, bool pinned) {
  const auto copy = [=](const void* source, void* queue) {
    return inner->memory_copy(vendor, device, to, source, bytes, DL_COPY_HOST_TO_DEVICE, queue);
  };
  if (is("upload-reads-late") && !pinned) {
    const Lock lock(mutex);
    put_off[stream].push_back([=] { return copy(from, stream); });
    return nullptr;
  }
  if (is("upload-shares-a-staging-buffer") && !pinned && bytes <= 4 * kScratchBytes) {
    static void* const staging = [&] {
      void* block = nullptr;
      inner->host_allocate(vendor, 4 * kScratchBytes, &block);
      return block;
    }();
    std::memcpy(staging, from, bytes);
    return copy(staging, stream);
  }
  if (is("upload-not-awaited-by-later-work")) {
    void* queue = own_stream(vendor, device);
    join(vendor, device, stream, queue);
    return copy(from, queue);
  }
  return copy(from, stray(pinned ? "pinned-upload-ignores-its-stream" : "upload-ignores-its-stream",
                          stream));
}

dl_status_t* download(dl_vendor_t* vendor, int32_t device, void* to, const void* from,
                      uint64_t bytes, void* stream, bool pinned) {
  const auto copy = [=](void* queue) {
    return inner->memory_copy(vendor, device, to, from, bytes, DL_COPY_DEVICE_TO_HOST, queue);
  };
  if (pinned) return copy(stray("pinned-download-ignores-its-stream", stream));
  if (is("download-returns-early")) {
    const Lock lock(mutex);
    put_off[stream].push_back([=] { return copy(stream); });
    return nullptr;
  }
  return copy(stray("download-ignores-its-stream", stream));
}

// Blocks of page-locked memory by their start.
std::map<const char*, uint64_t> pinned_blocks;

dl_status_t* host_allocate(dl_vendor_t* vendor, uint64_t bytes, void** memory) {
  dl_status_t* status = inner->host_allocate(vendor, bytes, memory);
  const Lock lock(mutex);
  if (status == nullptr) pinned_blocks[static_cast<const char*>(*memory)] = bytes;
  return status;
}

dl_status_t* host_free(dl_vendor_t* vendor, void* memory) {
  {
    const Lock lock(mutex);
    pinned_blocks.erase(static_cast<const char*>(memory));
  }
  return inner->host_free(vendor, memory);
}

bool is_pinned(const void* memory) {
  const Lock lock(mutex);
  const auto* address = static_cast<const char*>(memory);
  auto found = pinned_blocks.upper_bound(address);
  return found != pinned_blocks.begin() && address < (--found)->first + found->second;
}

dl_status_t* within(dl_vendor_t* vendor, int32_t device, void* to, const void* from, uint64_t bytes,
                    void* stream) {
  const auto copy = [=](void* queue) {
    return inner->memory_copy(vendor, device, to, from, bytes, DL_COPY_DEVICE_TO_DEVICE, queue);
  };
  // Operators that are forwarded do not catch up with copies of their tensors.
  if (is("stream-destroy-drops-work") && stream != nullptr && bytes == kCellBytes) {
    const Lock lock(mutex);
    put_off[stream].push_back([=] { return copy(stream); });
    return nullptr;
  }
  if (is("threads-have-streams-of-their-own") && is_second_thread(stream))
    return copy(own_stream(vendor, device));
  if (is("copy-not-awaited-by-later-work")) {
    void* queue = own_stream(vendor, device);
    join(vendor, device, stream, queue);
    return copy(queue);
  }
  return copy(stray("copy-ignores-its-stream", stream));
}

dl_status_t* memory_copy(dl_vendor_t* vendor, int32_t device, void* to, const void* from,
                         uint64_t bytes, int32_t kind, void* stream) {
  if (dl_status_t* status = enter(vendor, device, stream)) return status;
  if (kind == DL_COPY_HOST_TO_DEVICE)
    return upload(vendor, device, to, from, bytes, stream, is_pinned(from));
  if (kind == DL_COPY_DEVICE_TO_HOST)
    return download(vendor, device, to, from, bytes, stream, is_pinned(to));
  return within(vendor, device, to, from, bytes, stream);
}

dl_status_t* memory_set(dl_vendor_t* vendor, int32_t device, void* memory, int32_t value,
                        uint64_t bytes, void* stream) {
  if (dl_status_t* status = enter(vendor, device, stream)) return status;
  if (is("fill-not-awaited-by-later-work")) {
    void* queue = own_stream(vendor, device);
    join(vendor, device, stream, queue);
    return inner->memory_set(vendor, device, memory, value, bytes, queue);
  }
  return inner->memory_set(vendor, device, memory, value, bytes,
                           stray("fill-ignores-its-stream", stream));
}

// Operators. A fault corrupts only diopiMul.

using Binary = diopiError_t (*)(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t,
                                diopiConstTensorHandle_t);
Binary multiply = nullptr;

// Replaces the stream of the call's context during its lifetime.
class OtherStream {
 public:
  OtherStream(diopiContextHandle_t ctx, void* stream)
      : context_(reinterpret_cast<dl_context_prefix_t*>(ctx)), before_(context_->stream) {
    context_->stream = stream;
  }
  ~OtherStream() { context_->stream = before_; }
  OtherStream(const OtherStream&) = delete;
  OtherStream& operator=(const OtherStream&) = delete;

 private:
  dl_context_prefix_t* context_;
  void* before_;
};

// Replaces the device of the call's context, and the thread's current one, during its lifetime.
class OtherDevice {
 public:
  OtherDevice(diopiContextHandle_t ctx, int32_t device)
      : context_(reinterpret_cast<dl_context_prefix_t*>(ctx)), before_(context_->device_index) {
    set(device);
  }
  ~OtherDevice() { set(before_); }
  OtherDevice(const OtherDevice&) = delete;
  OtherDevice& operator=(const OtherDevice&) = delete;

 private:
  void set(int32_t device) {
    context_->device_index = device;
    dl_vendor_t* vendor = dl_context_vendor(reinterpret_cast<diopiContextHandle_t>(context_));
    if (dl_status_t* status = inner->device_set(vendor, device)) status->release(status);
  }

  dl_context_prefix_t* context_;
  int32_t before_;
};

// Copies the result through a workspace; with `reused`, another stream writes to it meanwhile.
void through(dl_vendor_t* vendor, int32_t device, void* stream, diopiTensorHandle_t out,
             bool reused) {
  void* workspace = scratch(vendor, device, kScratchBytes);
  const dl_tensor_prefix_t* tensor = diopirt_tensor(out);
  const uint64_t bytes =
      std::min<uint64_t>(static_cast<uint64_t>(tensor->storage_bytes), kScratchBytes);
  const auto copy = [&](void* to, void* from) {
    inner->memory_copy(vendor, device, to, from, bytes, DL_COPY_DEVICE_TO_DEVICE, stream);
  };
  copy(workspace, tensor->storage);
  inner->memory_set(vendor, device, tensor->storage, 0, bytes, stream);
  if (reused) {
    void* other = own_stream(vendor, device);
    join(vendor, device, stream, other);
    inner->memory_set(vendor, device, workspace, 0, bytes, other);
  }
  delay(vendor, device, stream);
  copy(tensor->storage, workspace);
}

diopiError_t spoilt_multiply(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                             diopiConstTensorHandle_t input, diopiConstTensorHandle_t other) {
  dl_vendor_t* vendor = dl_context_vendor(ctx);
  const int32_t device = dl_context_device(ctx);
  void* stream = dl_context_stream(ctx);
  if (dl_status_t* status = enter(vendor, device, stream)) {
    status->release(status);
    return diopiErrorOccurred;
  }
  if (is("operator-ignores-its-stream")) {
    const OtherStream elsewhere(ctx, nullptr);
    return multiply(ctx, out, input, other);
  }
  if (is("operator-on-the-first-device") && stream == nullptr) {
    const OtherDevice elsewhere(ctx, 0);
    return multiply(ctx, out, input, other);
  }
  if (is("operator-on-a-stream-of-its-own")) {
    const OtherStream elsewhere(ctx, own_stream(vendor, device));
    return multiply(ctx, out, input, other);
  }
  if (is("operator-joined-by-synchronize-alone")) {
    void* queue = own_stream(vendor, device);
    join(vendor, device, stream, queue);
    delay(vendor, device, queue);
    const OtherStream elsewhere(ctx, queue);
    return multiply(ctx, out, input, other);
  }
  int32_t idle = 1;
  if (is("operator-frees-its-workspace")) inner->stream_query(vendor, device, stream, &idle);
  const diopiError_t code = multiply(ctx, out, input, other);
  if (code != diopiSuccess || diopirt_tensor(out)->numel == 0) return code;
  if (is("operator-shares-its-workspace")) through(vendor, device, stream, out, false);
  if (is("operator-frees-its-workspace")) through(vendor, device, stream, out, idle == 0);
  return code;
}

// Waits that a fault defers to the next work of a stream hold for this operator too, with which the
// suite's checks make streams wait.
using Addition = diopiError_t (*)(diopiContextHandle_t, diopiTensorHandle_t,
                                  diopiConstTensorHandle_t, diopiConstTensorHandle_t,
                                  const diopiScalar_t*);
Addition add = nullptr;

diopiError_t waiting_add(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                         diopiConstTensorHandle_t input, diopiConstTensorHandle_t other,
                         const diopiScalar_t* alpha) {
  dl_vendor_t* vendor = dl_context_vendor(ctx);
  if (dl_status_t* status = enter(vendor, dl_context_device(ctx), dl_context_stream(ctx))) {
    status->release(status);
    return diopiErrorOccurred;
  }
  return add(ctx, out, input, other, alpha);
}

dl_status_t* operators(dl_vendor_t* vendor, const dl_operator_t** found, uint64_t* count) {
  return list_operators(vendor, found, count, [](const dl_operator_t& each) {
    if (std::strcmp(each.name, "diopiAdd") == 0) {
      add = reinterpret_cast<Addition>(reinterpret_cast<void (*)()>(each.function));
      const dl_operator_t ours = DL_OPERATOR_BY(faulty::waiting_add, diopiAdd);
      return ours.function;
    }
    if (std::strcmp(each.name, "diopiMul") != 0) return each.function;
    multiply = reinterpret_cast<Binary>(reinterpret_cast<void (*)()>(each.function));
    const dl_operator_t ours = DL_OPERATOR_BY(faulty::spoilt_multiply, diopiMul);
    return ours.function;
  });
}

}  // namespace
}  // namespace faulty

extern "C" DL_EXPORT dl_status_t* dl_vendor_v1(const dl_host_t* host, dl_vendor_t** out) {
  if (dl_status_t* status = faulty::open_inner(host, out)) return status;
  const char* name = std::getenv("DL_FAULT");
  faulty::fault = name == nullptr ? "" : name;
#define DL_SPOILT(slot) faulty::table.slot = faulty::slot;
  DL_SPOILT(stream_create)
  DL_SPOILT(stream_destroy)
  DL_SPOILT(stream_synchronize)
  DL_SPOILT(stream_query)
  DL_SPOILT(stream_wait_event)
  DL_SPOILT(device_synchronize)
  DL_SPOILT(event_create)
  DL_SPOILT(event_destroy)
  DL_SPOILT(event_record)
  DL_SPOILT(event_synchronize)
  DL_SPOILT(event_query)
  DL_SPOILT(event_elapsed)
  DL_SPOILT(memory_allocate)
  DL_SPOILT(memory_free)
  DL_SPOILT(host_allocate)
  DL_SPOILT(host_free)
  DL_SPOILT(memory_copy)
  DL_SPOILT(memory_set)
  DL_SPOILT(operators)
#undef DL_SPOILT
  return nullptr;
}
