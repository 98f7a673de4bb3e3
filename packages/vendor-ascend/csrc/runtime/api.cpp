#include "runtime/api.h"

#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

namespace dl::ascend {
namespace {

bool is_capture_error(acl::Code code) {
  return (code >= acl::kCaptureFirst && code <= acl::kCaptureLast) ||
         code == acl::kCaptureInvalidated;
}

// Fills a list of unknown length: `ask(first, size)` gets its capacity and returns its length.
template <class T, class Ask>
acl::Code list(std::vector<T>* all, const Ask& ask) {
  constexpr uint32_t kFirst = 64, kMost = 1 << 20;
  for (uint32_t capacity = kFirst;; capacity *= 4) {
    uint32_t size = capacity;
    all->resize(capacity);
    const acl::Code failed = ask(all->data(), &size);
    if (failed == acl::kArrayTooShort && capacity < kMost) {
      (void)take_error_text();
      continue;
    }
    all->resize(failed == acl::kSuccess ? size : 0);
    return failed;
  }
}

// Overflows become infinities, as torch expects; the first generation saturates otherwise.
// Optional: later generations have no other mode.
void prepare_device(int index) {
  static std::atomic<uint64_t> prepared{0};
  const uint64_t bit = uint64_t{1} << (static_cast<unsigned>(index) % 64);
  if ((prepared.fetch_or(bit) & bit) != 0) return;
  if (the_driver().set_overflow_mode.available() &&
      the_driver().set_overflow_mode(acl::kInfNan) != acl::kSuccess)
    (void)take_error_text();
}

}  // namespace

dl_code_t Api::code(Result result) {
  if (is_capture_error(result)) return DL_INVALID_ARGUMENT;
  switch (result) {
    case acl::kSuccess:
      return DL_OK;
    case acl::kOutOfMemory:
    case acl::kDeviceOutOfMemory:
    case acl::kUnallocated:
      return DL_OUT_OF_MEMORY;
    case acl::kStreamNotComplete:
    case acl::kEventNotComplete:
      return DL_NOT_READY;
    case acl::kNoDevice:
    case acl::kSetupFailed:
      return DL_UNAVAILABLE;
    default:
      return DL_ERROR;
  }
}

const char* Api::message(Result result) {
  thread_local std::string text;
  text = describe(result);
  return text.c_str();
}

// A thread without a current device leaves an error text, which would be part of the next message.
Api::Result Api::get_device(int* index) {
  int32_t device = -1;
  const Result failed = the_driver().device_current(&device);
  if (failed != acl::kSuccess) (void)take_error_text();
  *index = device;
  return failed;
}

// Each call makes the default context of the device current and counts one more reference to it,
// which nothing ever returns: other code in the process may use the same context.
Api::Result Api::set_device(int index) {
  const Result failed = the_driver().device_set(index);
  if (failed == acl::kSuccess) prepare_device(index);
  return failed;
}

Api::Result Api::properties(int index, dl_device_properties_t* all) {
  acl::Driver& driver = the_driver();
  const char* const name = driver.soc_name();
  const std::string soc = name == nullptr ? "Ascend NPU" : name;
  std::snprintf(all->name, sizeof all->name, "%s", soc.c_str());
  std::snprintf(all->architecture, sizeof all->architecture, "%s", soc.c_str());
  size_t free_bytes = 0, total = 0;
  if (const Result failed = memory_info(&free_bytes, &total)) return failed;
  all->total_memory = total;
  // Kernels may read 32 bytes behind a tensor. The runtime's own allocations have them; a block
  // that a host carves out of an allocation needs them too.
  constexpr uint64_t kSpareBytes = 32;
  all->allocation_padding = kSpareBytes;
  int64_t cores = 0;
  if (driver.device_capability.available() &&
      driver.device_capability(static_cast<uint32_t>(index), acl::kAicoreCount, &cores) !=
          acl::kSuccess)
    (void)take_error_text();
  all->multiprocessor_count = static_cast<int32_t>(cores);
  for (const diopiDtype_t dtype :
       {diopi_dtype_int8, diopi_dtype_uint8, diopi_dtype_int16, diopi_dtype_int32,
        diopi_dtype_int64, diopi_dtype_bool, diopi_dtype_float16, diopi_dtype_bfloat16,
        diopi_dtype_float32, diopi_dtype_float64}) {
    all->dtype_mask |= uint64_t{1} << static_cast<unsigned>(dtype);
  }
  return acl::kSuccess;
}

// Devices without HBM report their DDR.
Api::Result Api::memory_info(size_t* free_bytes, size_t* total) {
  const Result failed = the_driver().memory_info(acl::kHbmMemory, free_bytes, total);
  if (failed == acl::kSuccess && *total != 0) return failed;
  if (failed != acl::kSuccess) (void)take_error_text();
  return the_driver().memory_info(acl::kDdrMemory, free_bytes, total);
}

// The runtime demands that a stream has finished its work.
Api::Result Api::stream_destroy(Stream stream) {
  if (the_driver().stream_synchronize(stream) != acl::kSuccess) (void)take_error_text();
  return the_driver().stream_destroy(stream);
}

Api::Result Api::stream_query(Stream stream) {
  int status = acl::kStreamComplete;
  const Result failed = the_driver().stream_query(stream, &status);
  if (failed != acl::kSuccess) return failed;
  return status == acl::kStreamComplete ? acl::kSuccess : acl::kStreamNotComplete;
}

Api::Result Api::stream_wait_event(Stream stream, Event event) {
  return event->recorded ? the_driver().stream_wait_event(stream, event->handle)
                         : Result(acl::kSuccess);
}

// Only events of this function may be recorded again and destroyed while they are pending.
Api::Result Api::event_create(Event* event, bool timing) {
  auto made = std::make_unique<RecordedEvent>();
  const uint32_t flags = acl::kEventSync | (timing ? acl::kEventTimeLine : 0);
  const Result failed = the_driver().event_create(&made->handle, flags);
  if (failed == acl::kSuccess) *event = made.release();
  return failed;
}

Api::Result Api::event_destroy(Event event) {
  const std::unique_ptr<RecordedEvent> gone(event);
  return the_driver().event_destroy(gone->handle);
}

Api::Result Api::event_record(Event event, Stream stream) {
  const Result failed = the_driver().event_record(event->handle, stream);
  if (failed == acl::kSuccess) event->recorded = true;
  return failed;
}

Api::Result Api::event_synchronize(Event event) {
  return event->recorded ? the_driver().event_synchronize(event->handle) : Result(acl::kSuccess);
}

Api::Result Api::event_query(Event event) {
  if (!event->recorded) return acl::kSuccess;
  int status = acl::kEventComplete;
  const Result failed = the_driver().event_query(event->handle, &status);
  if (failed != acl::kSuccess) return failed;
  return status == acl::kEventComplete ? acl::kSuccess : acl::kEventNotComplete;
}

Api::Result Api::event_elapsed(float* milliseconds, Event start, Event end) {
  return the_driver().event_elapsed(milliseconds, start->handle, end->handle);
}

Api::Result Api::capture_end(Stream stream, Graph* graph) {
  auto made = std::make_unique<CapturedGraph>();
  const Result failed = the_driver().capture_end(stream, &made->handle);
  if (failed == acl::kSuccess) *graph = made.release();
  return failed;
}

Api::Result Api::capture_status(Stream stream, bool* capturing) {
  int status = acl::kCaptureNone;
  acl::Graph graph = nullptr;
  const Result result = the_driver().capture_info(stream, &status, &graph);
  // A broken capture is active until it is ended.
  *capturing = status != acl::kCaptureNone;
  return result;
}

// Releases before the one that lists tasks do not report the number: it is 0 there.
Api::Result Api::graph_nodes(Graph graph, size_t* count) {
  acl::Driver& driver = the_driver();
  *count = 0;
  if (!driver.graph_streams.available() || !driver.stream_tasks.available()) return acl::kSuccess;
  std::vector<acl::Stream> streams;
  if (const Result failed = list(&streams, [&](acl::Stream* first, uint32_t* size) {
        return driver.graph_streams(graph->handle, first, size);
      }))
    return failed;
  for (const acl::Stream stream : streams) {
    std::vector<void*> tasks;
    if (const Result failed = list(&tasks, [&](void** first, uint32_t* size) {
          return driver.stream_tasks(stream, first, size);
        }))
      return failed;
    *count += tasks.size();
  }
  return acl::kSuccess;
}

Api::Result Api::graph_instantiate(Executable* made, Graph graph) {
  *made = std::exchange(graph->handle, nullptr);
  return acl::kSuccess;
}

Api::Result Api::graph_destroy(Graph graph) {
  const std::unique_ptr<CapturedGraph> gone(graph);
  return gone == nullptr || gone->handle == nullptr ? Result(acl::kSuccess)
                                                    : the_driver().graph_destroy(gone->handle);
}

}  // namespace dl::ascend
