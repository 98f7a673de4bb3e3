// The vendor's class: each method fills the slot of the same name in the contract's table, and
// throws on failure. The device is OpenCL's first one with shared virtual memory, whose blocks have
// addresses; docs/vendor.md of dl-diopi-proto lists all slots.
//
// A stream is an in-order queue. An event is a marker that was enqueued when the event was last
// recorded.
#ifndef VENDOR_H_
#define VENDOR_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "dl/kit/operators.h"
#include "dl/kit/table.h"
#include "kernels.h"
#include "opencl.h"

namespace __chip__ {

using Marker = std::shared_ptr<EventObject>;  // null: nothing to wait for

struct Stream {
  Queue queue;
  std::mutex mutex;
  Marker last;  // completes with the last command
};

struct Vendor : dl::kit::Instance {
  static constexpr const char* kName = "__chip__";
  static constexpr const char* kVersion = VENDOR_VERSION;

  ~Vendor();

  bool present();
  int32_t device_count();
  dl_device_properties_t device_properties(int32_t device);
  void device_synchronize(int32_t device);

  void* memory_allocate(int32_t device, uint64_t bytes);
  void memory_free(int32_t device, void* memory);
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
  void launch(diopiContextHandle_t ctx, const char* kernel, const Arguments& arguments) {
    const void* const blocks[] = {arguments.output.data, arguments.left.data, arguments.right.data};
    run(stream_of(dl_context_stream(ctx)), kernel, &arguments, sizeof arguments, blocks,
        work_items(arguments));
  }

 private:
  Stream& create_stream();
  Stream& stream_of(void* stream);  // NULL is the default stream
  Program program();                // the kernels, compiled on first use
  void run(Stream& stream, const char* kernel, const void* arguments, size_t bytes,
           const void* const (&blocks)[3], size_t items);

  std::mutex mutex_;  // of all members
  DeviceId device_ = nullptr;
  Context context_ = nullptr;
  Program program_ = nullptr;
  Stream* default_stream_ = nullptr;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<Marker> unfinished_;  // last commands of destroyed streams
};

}  // namespace __chip__

#endif  // VENDOR_H_
