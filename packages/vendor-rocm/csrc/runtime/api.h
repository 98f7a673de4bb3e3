// AMD's HIP runtime as dl::kit::Runtime wants a driver: the members that dl/kit/runtime.h lists.
#ifndef DL_ROCM_RUNTIME_API_H_
#define DL_ROCM_RUNTIME_API_H_

#include <string>

#include "dl/kit/runtime.h"
#include "runtime/driver.h"

namespace dl::rocm {

// Copies of pageable memory are waited for (kStagesPageable is not set): HIP promises nowhere that
// it has read the host's memory when it returns.
class Api {
 public:
  using Result = driver::Code;
  using Stream = driver::Stream;
  using Event = driver::Event;

  static dl_code_t code(Result result) { return kit::hip_driver_code(result); }
  // Kept for the thread.
  const char* message(Result result);
  // HIP keeps failures of the thread for whoever asks next, which others in the process do.
  void clear_error() { (void)the_driver().take_last_error(); }

  std::string absence() { return rocm::absence(); }
  bool present() { return absence().empty(); }

  Result device_count(int* count) { return Cards::here().count(count); }
  Result get_device(int* card);
  Result set_device(int card) { return the_driver().device_set(Cards::here().device(card)); }
  Result device_synchronize() { return the_driver().device_synchronize(); }
  Result properties(int card, dl_device_properties_t* all);

  Result malloc(void** memory, size_t bytes) { return the_driver().memory_allocate(memory, bytes); }
  Result free(void* memory) { return the_driver().memory_free(memory); }
  Result memory_info(size_t* free_bytes, size_t* total) {
    return the_driver().memory_info(free_bytes, total);
  }
  Result malloc_host(void** memory, size_t bytes) {
    constexpr unsigned kPortable = 1;  // page-locked for all cards
    return the_driver().host_allocate(memory, bytes, kPortable);
  }
  Result free_host(void* memory) { return the_driver().host_free(memory); }
  // `kind` is 1, 2 or 3: to the device, to the host, on the device.
  Result copy(void* to, const void* from, size_t bytes, int kind, Stream stream) {
    return the_driver().copy(to, from, bytes, kind, stream);
  }
  Result set(void* memory, int value, size_t bytes, Stream stream) {
    return the_driver().set_bytes(memory, value, bytes, stream);
  }

  Result stream_create(Stream* stream, int priority) {
    constexpr unsigned kNonBlocking = 1;  // neither waits for the default stream nor is waited for
    return the_driver().stream_create(stream, kNonBlocking, priority);
  }
  Result stream_destroy(Stream stream) { return the_driver().stream_destroy(stream); }
  Result stream_synchronize(Stream stream) { return the_driver().stream_synchronize(stream); }
  Result stream_query(Stream stream) { return the_driver().stream_query(stream); }
  Result stream_wait_event(Stream stream, Event event) {
    return the_driver().stream_wait_event(stream, event, 0);
  }

  Result event_create(Event* event, bool timing) {
    constexpr unsigned kDisableTiming = 2;
    return the_driver().event_create(event, timing ? 0 : kDisableTiming);
  }
  Result event_destroy(Event event) { return the_driver().event_destroy(event); }
  Result event_record(Event event, Stream stream) {
    return the_driver().event_record(event, stream);
  }
  Result event_synchronize(Event event) { return the_driver().event_synchronize(event); }
  Result event_query(Event event) { return the_driver().event_query(event); }
  Result event_elapsed(float* milliseconds, Event start, Event end) {
    return the_driver().event_elapsed(milliseconds, start, end);
  }
};

}  // namespace dl::rocm

#endif  // DL_ROCM_RUNTIME_API_H_
