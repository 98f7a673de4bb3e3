// NVIDIA's driver as dl::kit::Runtime wants one: the members that dl/kit/runtime.h lists.
#ifndef DL_CUDA_RUNTIME_API_H_
#define DL_CUDA_RUNTIME_API_H_

#include <string>

#include "dl/kit/runtime.h"
#include "runtime/driver.h"

namespace dl::cuda {

class Api {
 public:
  using Result = driver::Code;
  using Stream = driver::Stream;
  using Event = driver::Event;

  // The driver copies pageable memory to a place of its own before it returns, or waits.
  static constexpr bool kStagesPageable = true;

  static dl_code_t code(Result result) { return kit::cuda_driver_code(result); }
  // Kept for the thread.
  const char* message(Result result);

  std::string absence() { return cuda::absence(); }
  bool present() { return absence().empty(); }

  Result device_count(int* count) { return Cards::here().count(count); }
  Result get_device(int* card);
  Result set_device(int card);
  Result device_synchronize() { return the_driver().context_synchronize(); }
  Result properties(int card, dl_device_properties_t* all);

  Result malloc(void** memory, size_t bytes);
  Result free(void* memory) { return the_driver().memory_free(driver::address_of(memory)); }
  Result memory_info(size_t* free_bytes, size_t* total) {
    return the_driver().memory_info(free_bytes, total);
  }
  Result malloc_host(void** memory, size_t bytes);
  Result free_host(void* memory) { return the_driver().host_free(memory); }
  // `kind` is 1, 2 or 3: to the device, to the host, on the device.
  Result copy(void* to, const void* from, size_t bytes, int kind, Stream stream);
  Result set(void* memory, int value, size_t bytes, Stream stream) {
    return the_driver().set_bytes(driver::address_of(memory), static_cast<unsigned char>(value),
                                  bytes, stream);
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

}  // namespace dl::cuda

#endif  // DL_CUDA_RUNTIME_API_H_
