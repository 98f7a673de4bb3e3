// CANN's runtime as an Api for dl::kit::Runtime, with the members that dl/kit/runtime.h lists.
#ifndef DL_ASCEND_RUNTIME_API_H_
#define DL_ASCEND_RUNTIME_API_H_

#include <atomic>
#include <cstddef>
#include <string>

#include "dl/kit/runtime.h"
#include "runtime/driver.h"

namespace dl::ascend {

// An event of the runtime, which must be recorded before anything waits for it, while the contract
// treats an event that was never recorded as finished.
struct RecordedEvent {
  acl::Event handle = nullptr;
  std::atomic<bool> recorded{false};
};

// Copies of pageable memory are waited for (kStagesPageable is not set): older releases do not
// guarantee that they have read the host memory when they return.
class Api {
 public:
  using Result = acl::Code;
  using Stream = acl::Stream;
  using Event = RecordedEvent*;

  static dl_code_t code(Result result);
  // Valid until the thread's next call.
  const char* message(Result result);

  std::string absence() { return ascend::absence(); }

  Result device_count(int* count) { return count_devices(count); }
  Result get_device(int* index);
  Result set_device(int index);
  Result device_synchronize() { return the_driver().device_synchronize(); }
  Result properties(int index, dl_device_properties_t* all);

  Result malloc(void** memory, size_t bytes) {
    return the_driver().memory_allocate(memory, bytes, acl::kHugeFirst);
  }
  Result free(void* memory) { return the_driver().memory_free(memory); }
  Result memory_info(size_t* free_bytes, size_t* total);
  Result malloc_host(void** memory, size_t bytes) {
    return the_driver().host_allocate(memory, bytes);
  }
  Result free_host(void* memory) { return the_driver().host_free(memory); }
  // `kind` is 1, 2 or 3: host to device, device to host, or on the device.
  Result copy(void* to, const void* from, size_t bytes, int kind, Stream stream) {
    return the_driver().copy(to, bytes, from, bytes, kind, stream);
  }
  Result set(void* memory, int value, size_t bytes, Stream stream) {
    return the_driver().set_bytes(memory, bytes, value, bytes, stream);
  }

  // The runtime ignores priorities.
  Result stream_create(Stream* stream, int) {
    return the_driver().stream_create(stream, 0, acl::kFastLaunch | acl::kFastSync);
  }
  Result stream_destroy(Stream stream);
  Result stream_synchronize(Stream stream) { return the_driver().stream_synchronize(stream); }
  Result stream_query(Stream stream);
  Result stream_wait_event(Stream stream, Event event);

  Result event_create(Event* event, bool timing);
  Result event_destroy(Event event);
  Result event_record(Event event, Stream stream);
  Result event_synchronize(Event event);
  Result event_query(Event event);
  Result event_elapsed(float* milliseconds, Event start, Event end);

  // Members for dl/kit/graph.h. The runtime's graph is executable at once.
  struct CapturedGraph {
    acl::Graph handle;
  };
  using Graph = CapturedGraph*;
  using Executable = acl::Graph;
  Result capture_begin(Stream stream) {
    return the_driver().capture_begin(stream, acl::kCaptureRelaxed);
  }
  Result capture_end(Stream stream, Graph* graph);
  Result capture_status(Stream stream, bool* capturing);
  Result graph_nodes(Graph graph, size_t* count);
  Result graph_instantiate(Executable* made, Graph graph);
  Result graph_launch(Executable graph, Stream stream) {
    return the_driver().graph_launch(graph, stream);
  }
  Result graph_destroy(Graph graph);
  Result executable_destroy(Executable graph) { return the_driver().graph_destroy(graph); }
};

}  // namespace dl::ascend

#endif  // DL_ASCEND_RUNTIME_API_H_
