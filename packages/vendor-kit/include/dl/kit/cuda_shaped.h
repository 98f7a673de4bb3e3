// The members of a Runtime's Api (runtime.h) for a driver that has CUDA's function names with a
// prefix of its own, as in HIP: cudaMalloc, hipMalloc.
//
//   struct Hip : dl::kit::Library {
//     Hip() : Library({"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"}) {}
//     DL_KIT_CUDA_SHAPED(DL_KIT_SYMBOL_AS, hip)
//     hipError_t properties(int device, dl_device_properties_t* all);
//   };
//
// With DL_KIT_LINKED_AS, the functions are those that the library was linked with, such as a static
// cudart. Then Api needs its own `present` and no Library.
#ifndef DL_KIT_CUDA_SHAPED_H_
#define DL_KIT_CUDA_SHAPED_H_

#include "dl/kit/base.h"
#include "dl/kit/symbols.h"
#include "dl/status.h"

DL_KIT_BEGIN

// These errors have the same numbers in all such drivers.
inline dl_code_t cuda_shaped_code(int error) {
  switch (error) {
    case 0:
      return DL_OK;
    case 2:
      return DL_OUT_OF_MEMORY;
    case 600:
      return DL_NOT_READY;
    case 35:   // no driver, or one that is too old
    case 100:  // no device
      return DL_UNAVAILABLE;
    default:
      return DL_ERROR;
  }
}

DL_KIT_END

#define DL_KIT_LINKED_AS(member, function) decltype(&::function) member = &::function

// Streams are created with flag 1 (non-blocking): they do not synchronize with the default stream.
#define DL_KIT_CUDA_SHAPED(AS, prefix)                                    \
  using Result = prefix##Error_t;                                         \
  using Stream = prefix##Stream_t;                                        \
  using Event = prefix##Event_t;                                          \
  AS(device_count, prefix##GetDeviceCount);                               \
  AS(get_device, prefix##GetDevice);                                      \
  AS(set_device, prefix##SetDevice);                                      \
  AS(device_synchronize, prefix##DeviceSynchronize);                      \
  AS(malloc, prefix##Malloc);                                             \
  AS(free, prefix##Free);                                                 \
  AS(memory_info, prefix##MemGetInfo);                                    \
  AS(malloc_host, prefix##MallocHost);                                    \
  AS(free_host, prefix##FreeHost);                                        \
  AS(copy, prefix##MemcpyAsync);                                          \
  AS(set, prefix##MemsetAsync);                                           \
  AS(stream_destroy, prefix##StreamDestroy);                              \
  AS(stream_synchronize, prefix##StreamSynchronize);                      \
  AS(stream_query, prefix##StreamQuery);                                  \
  AS(event_destroy, prefix##EventDestroy);                                \
  AS(event_record, prefix##EventRecord);                                  \
  AS(event_synchronize, prefix##EventSynchronize);                        \
  AS(event_query, prefix##EventQuery);                                    \
  AS(event_elapsed, prefix##EventElapsedTime);                            \
  AS(message, prefix##GetErrorString);                                    \
  AS(take_last_error, prefix##GetLastError);                              \
  AS(create_stream_with, prefix##StreamCreateWithPriority);               \
  AS(wait_event_with, prefix##StreamWaitEvent);                           \
  AS(create_event_with, prefix##EventCreateWithFlags);                    \
  static dl_code_t code(Result result) {                                  \
    return ::dl::kit::cuda_shaped_code(static_cast<int>(result));         \
  }                                                                       \
  void clear_error() { (void)take_last_error(); }                         \
  Result stream_create(Stream* stream, int priority) {                    \
    return create_stream_with(stream, 1, priority);                       \
  }                                                                       \
  Result stream_wait_event(Stream stream, Event event) {                  \
    return wait_event_with(stream, event, 0);                             \
  }                                                                       \
  Result event_create(Event* event, bool timing) {                        \
    return create_event_with(event, timing ? 0 : 2); /* without timing */ \
  }

#endif  // DL_KIT_CUDA_SHAPED_H_
