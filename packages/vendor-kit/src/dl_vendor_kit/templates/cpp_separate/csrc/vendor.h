// The vendor's class: each method fills the slot of the same name in the contract's table, and
// throws on failure. The device has memory of its own and asynchronous queues (driver.h).
//
// A stream is a queue of the driver. An event is the fence that was enqueued when the event was
// last recorded. docs/vendor.md of dl-diopi-proto lists all slots.
#ifndef VENDOR_H_
#define VENDOR_H_

#include <cstdint>
#include <mutex>

#include "dl/kit/operators.h"
#include "dl/kit/table.h"
#include "driver.h"

namespace __chip__ {

struct Vendor : dl::kit::Instance {
  static constexpr const char* kName = "__chip__";
  static constexpr const char* kVersion = VENDOR_VERSION;

  ~Vendor();

  int32_t device_count() { return driver_device_count(); }
  dl_device_properties_t device_properties(int32_t device);
  void device_synchronize(int32_t device);

  void* memory_allocate(int32_t device, uint64_t bytes);
  void memory_free(int32_t device, void* memory);
  dl::kit::MemoryInfo memory_info(int32_t device);
  void memory_copy(int32_t device, void* to, const void* from, uint64_t bytes, int32_t kind,
                   void* stream);
  void memory_set(int32_t device, void* memory, int32_t value, uint64_t bytes, void* stream);

  void* stream_create(int32_t device, int32_t priority);
  void stream_destroy(int32_t device, void* stream);
  void stream_synchronize(int32_t device, void* stream);
  bool stream_query(int32_t device, void* stream);
  void stream_wait_event(int32_t device, void* stream, void* event);

  void* event_create(int32_t device, uint64_t flags);
  void event_destroy(int32_t device, void* event);
  void event_record(int32_t device, void* event, void* stream);
  void event_synchronize(int32_t device, void* event);
  bool event_query(int32_t device, void* event);
  double event_elapsed(int32_t device, void* start, void* end);

  dl::kit::Operators operators();

  // Enqueues a kernel on the stream of an operator's context.
  template <class Arguments>
  void launch(diopiContextHandle_t ctx, void (*kernel)(const void*), const Arguments& arguments) {
    check(driver_enqueue_kernel(queue_of(dl_context_stream(ctx)), kernel, &arguments,
                                sizeof arguments),
          "driver_enqueue_kernel");
  }

 private:
  // Throws if a call of the driver failed. `operation` is a literal.
  static void check(driver_result_t result, const char* operation);
  // Returns the queue of a stream; NULL is the default stream.
  driver_queue_t* queue_of(void* stream);

  std::mutex mutex_;
  driver_queue_t* default_queue_ = nullptr;  // created on first use
};

}  // namespace __chip__

#endif  // VENDOR_H_
