#include "runtime/api.h"

#include <cstdio>
#include <memory>

namespace dl::cambricon {

dl_code_t Api::code(Result result) {
  switch (result) {
    case cnrt::kSuccess:
      return DL_OK;
    case cnrt::kOutOfMemory:
    case cnrt::kHostOutOfMemory:
      return DL_OUT_OF_MEMORY;
    case cnrt::kNotReady:
      return DL_NOT_READY;
    case cnrt::kNoDevice:
    case cnrt::kInitFailed:
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

// The struct of cnrtGetDeviceProperties differs between releases, so the name is made from
// attributes: the version of the instruction set is the number in the chip's name.
Api::Result Api::properties(int index, dl_device_properties_t* all) {
  cnrt::Driver& driver = the_driver();
  int isa = 0, major = 0, minor = 0, clusters = 0, cores = 0;
  for (const auto& [attribute, value] : {std::pair{int{cnrt::kIsaVersion}, &isa},
                                         {cnrt::kMajor, &major},
                                         {cnrt::kMinor, &minor},
                                         {cnrt::kClusterCount, &clusters},
                                         {cnrt::kCoresPerCluster, &cores}}) {
    if (const Result failed = driver.device_attribute(value, attribute, index)) return failed;
  }
  std::snprintf(all->name, sizeof all->name, "Cambricon MLU (ISA %d)", isa);
  std::snprintf(all->architecture, sizeof all->architecture, "mtp_%d", isa);
  all->multiprocessor_count = clusters * cores;
  size_t free_bytes = 0, total = 0;
  if (const Result failed = memory_info(&free_bytes, &total)) return failed;
  all->total_memory = total;
  for (const diopiDtype_t dtype :
       {diopi_dtype_int8, diopi_dtype_uint8, diopi_dtype_int16, diopi_dtype_int32,
        diopi_dtype_int64, diopi_dtype_bool, diopi_dtype_float16, diopi_dtype_bfloat16,
        diopi_dtype_float32, diopi_dtype_float64}) {
    all->dtype_mask |= uint64_t{1} << static_cast<unsigned>(dtype);
  }
  return cnrt::kSuccess;
}

Api::Result Api::copy(void* to, const void* from, size_t bytes, int kind, Stream stream) {
  const int direction = kind == 1   ? cnrt::kHostToDevice
                        : kind == 2 ? cnrt::kDeviceToHost
                                    : cnrt::kDeviceToDevice;
  return the_driver().copy(to, const_cast<void*>(from), bytes, stream, direction);
}

// The runtime has a range of priorities that no public document states, so all queues have the
// lowest: 0.
Api::Result Api::stream_create(Stream* stream, int) {
  return the_driver().queue_create(stream, 0, 0);
}

Api::Result Api::stream_wait_event(Stream stream, Event event) {
  return event->placed ? the_driver().queue_wait_notifier(event->handle, stream, 0)
                       : Result(cnrt::kSuccess);
}

Api::Result Api::event_create(Event* event, bool timing) {
  auto made = std::make_unique<PlacedNotifier>();
  const Result failed =
      the_driver().notifier_create(&made->handle, timing ? cnrt::kTiming : cnrt::kNoTiming);
  if (failed == cnrt::kSuccess) *event = made.release();
  return failed;
}

Api::Result Api::event_destroy(Event event) {
  const std::unique_ptr<PlacedNotifier> gone(event);
  return the_driver().notifier_destroy(gone->handle);
}

Api::Result Api::event_record(Event event, Stream stream) {
  const Result failed = the_driver().notifier_place(event->handle, stream);
  if (failed == cnrt::kSuccess) event->placed = true;
  return failed;
}

Api::Result Api::event_synchronize(Event event) {
  return event->placed ? the_driver().notifier_wait(event->handle) : Result(cnrt::kSuccess);
}

Api::Result Api::event_query(Event event) {
  return event->placed ? the_driver().notifier_query(event->handle) : Result(cnrt::kSuccess);
}

}  // namespace dl::cambricon
