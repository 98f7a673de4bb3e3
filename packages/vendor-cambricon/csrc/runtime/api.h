// Cambricon's runtime as an Api for dl::kit::Runtime, with the members that dl/kit/runtime.h lists.
#ifndef DL_CAMBRICON_RUNTIME_API_H_
#define DL_CAMBRICON_RUNTIME_API_H_

#include <atomic>
#include <cstddef>
#include <string>

#include "dl/kit/runtime.h"
#include "runtime/driver.h"

namespace dl::cambricon {

// A notifier of the runtime. The contract treats an event that was never recorded as finished; the
// runtime does not document what it does.
struct PlacedNotifier {
  cnrt::Notifier handle = nullptr;
  std::atomic<bool> placed{false};
};

// Copies of pageable memory are waited for (kStagesPageable is not set): the runtime does not
// document when it has read the host memory.
class Api {
 public:
  using Result = cnrt::Code;
  using Stream = cnrt::Queue;
  using Event = PlacedNotifier*;

  static dl_code_t code(Result result);
  // Valid until the thread's next call.
  const char* message(Result result);

  std::string absence() { return cambricon::absence(); }

  Result device_count(int* count) { return count_devices(count); }
  Result get_device(int* index) { return the_driver().device_current(index); }
  Result set_device(int index) { return the_driver().device_set(index); }
  Result device_synchronize() { return the_driver().device_synchronize(); }
  Result properties(int index, dl_device_properties_t* all);

  Result malloc(void** memory, size_t bytes) { return the_driver().memory_allocate(memory, bytes); }
  Result free(void* memory) { return the_driver().memory_free(memory); }
  Result memory_info(size_t* free_bytes, size_t* total) {
    return the_driver().memory_info(free_bytes, total);
  }
  Result malloc_host(void** memory, size_t bytes) {
    return the_driver().host_allocate(memory, bytes);
  }
  Result free_host(void* memory) { return the_driver().host_free(memory); }
  // `kind` is 1, 2 or 3: host to device, device to host, or on the device.
  Result copy(void* to, const void* from, size_t bytes, int kind, Stream stream);
  Result set(void* memory, int value, size_t bytes, Stream stream) {
    return the_driver().set_bytes(memory, value, bytes, stream);
  }

  Result stream_create(Stream* stream, int priority);
  Result stream_destroy(Stream stream) { return the_driver().queue_destroy(stream); }
  Result stream_synchronize(Stream stream) { return the_driver().queue_synchronize(stream); }
  Result stream_query(Stream stream) { return the_driver().queue_query(stream); }
  Result stream_wait_event(Stream stream, Event event);

  Result event_create(Event* event, bool timing);
  Result event_destroy(Event event);
  Result event_record(Event event, Stream stream);
  Result event_synchronize(Event event);
  Result event_query(Event event);
  Result event_elapsed(float* milliseconds, Event start, Event end) {
    return the_driver().notifier_elapsed(start->handle, end->handle, milliseconds);
  }
};

}  // namespace dl::cambricon

#endif  // DL_CAMBRICON_RUNTIME_API_H_
