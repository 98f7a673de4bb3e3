// OpenCL as an Api for dl::kit::Runtime, with the members that dl/kit/runtime.h lists. OpenCL has
// no current device, so the thread's is kept here, for NULL streams.
#ifndef DL_OPENCL_RUNTIME_API_H_
#define DL_OPENCL_RUNTIME_API_H_

#include <cstddef>
#include <string>

#include "dl/kit/runtime.h"
#include "runtime/device.h"
#include "runtime/errors.h"
#include "runtime/queue.h"

namespace dl::opencl {

// Failures are exceptions; results are kSuccess, kNotReady, or why there is no device.
class Api {
 public:
  using Result = cl::Int;
  using Stream = Queue*;
  using Event = ::dl::opencl::Event*;

  static dl_code_t code(Result result) { return code_of(result); }
  // Valid until the thread's next call.
  const char* message(Result result);
  std::string absence() { return opencl::absence(); }

  Result device_count(int* count);
  Result get_device(int* index);
  Result set_device(int index);
  Result device_synchronize();
  Result properties(int index, dl_device_properties_t* all);

  Result malloc(void** memory, size_t bytes);
  Result free(void* memory);
  Result memory_info(size_t* free_bytes, size_t* total);
  // Any memory of the host: OpenCL's copies read and write it when they run.
  Result malloc_host(void** memory, size_t bytes);
  Result free_host(void* memory);
  Result copy(void* to, const void* from, size_t bytes, int kind, Stream stream);
  Result set(void* memory, int value, size_t bytes, Stream stream);

  Result stream_create(Stream* stream, int priority);
  Result stream_destroy(Stream stream);
  Result stream_synchronize(Stream stream);
  Result stream_query(Stream stream);
  Result stream_wait_event(Stream stream, Event event);

  Result event_create(Event* event, bool timing);
  Result event_destroy(Event event);
  Result event_record(Event event, Stream stream);
  Result event_synchronize(Event event);
  Result event_query(Event event);
  Result event_elapsed(float* milliseconds, Event start, Event end);
};

}  // namespace dl::opencl

#endif  // DL_OPENCL_RUNTIME_API_H_
