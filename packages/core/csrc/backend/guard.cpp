// Device guard: torch's interface to devices, streams and events.
#include <c10/core/DeviceCapability.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <chrono>
#include <memory>

#include "contract/dtype.h"
#include "memory/allocator.h"
#include "runtime/activate.h"
#include "runtime/device.h"
#include "runtime/device_error.h"
#include "runtime/host.h"
#include "runtime/stream.h"

namespace dl::core {
namespace {

c10::Device make_device(int index) { return {kDeviceType, static_cast<c10::DeviceIndex>(index)}; }

// torch stores this struct as an opaque void*. The vendor's event is created at the first record.
struct Event {
  int device;
  void* handle = nullptr;
  ErrorMark errors{};
  // If core emulates events: host clock time of the record.
  std::chrono::steady_clock::time_point moment{};
};

const Device& owner_of(const Event* event) { return device_unchecked(event->device); }

// A synchronous vendor need not implement events: enqueued work is already complete, so a position
// in a stream is a point in time.
bool stands_in(const Device& owner) {
  const dl_vendor_table_t& slots = owner.vendor->slots();
  return owner.synchronous &&
         (slots.event_create == nullptr || slots.event_destroy == nullptr ||
          slots.event_record == nullptr || slots.event_synchronize == nullptr ||
          slots.event_query == nullptr || slots.event_elapsed == nullptr);
}

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return kDeviceType; }

  c10::Device exchangeDevice(c10::Device target) const override {
    const int previous = current_device();
    if (target.has_index() && target.index() != previous) set_current_device(target.index());
    return make_device(previous);
  }
  c10::Device getDevice() const override { return make_device(current_device()); }
  void setDevice(c10::Device target) const override {
    if (target.has_index()) set_current_device(target.index());
  }
  void uncheckedSetDevice(c10::Device target) const noexcept override {
    if (target.has_index()) set_current_device_unchecked(target.index());
  }
  c10::DeviceIndex deviceCount() const noexcept override {
    return static_cast<c10::DeviceIndex>(device_count());
  }
  c10::DeviceCapability getDeviceCapability(c10::Device target) const override {
    c10::DeviceCapability capability;
    const auto properties = device(device_or_current(target.index())).properties();
    // A vendor that does not report dtypes may support any dtype, which is what an unset capability
    // means.
    if (properties.dtype_mask != 0)
      capability.capability_data.capability_bits = supported_types(properties.dtype_mask);
    return capability;
  }

  c10::Stream getStream(c10::Device target) const override {
    return current_stream(device_or_current(target.index()));
  }
  c10::Stream getDefaultStream(c10::Device target) const override {
    return default_stream(device_or_current(target.index()));
  }
  c10::Stream getNewStream(c10::Device target, int priority) const override {
    return new_stream(device_or_current(target.index()), priority);
  }
  c10::Stream getStreamFromGlobalPool(c10::Device target, bool high_priority) const override {
    return pooled_stream(device_or_current(target.index()), high_priority);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override { return exchange_stream(stream); }
  void* getStreamNativeHandle(const c10::Stream stream) const override {
    return native_stream(stream);
  }
  bool queryStream(const c10::Stream& stream) const override { return query_stream(stream); }
  void synchronizeStream(const c10::Stream& stream) const override { synchronize_stream(stream); }
  void synchronizeDevice(const c10::DeviceIndex index) const override {
    synchronize_device(device_or_current(index));
  }
  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override {
    device_allocator()->recordStream(data, stream);
  }

  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex index,
              const c10::EventFlag flag) const override {
    check_not_forked();
    TORCH_CHECK(index == -1 || index == stream.device_index(),
                "[dl] an event of dl:", static_cast<int>(index),
                " cannot be recorded on a stream of dl:", static_cast<int>(stream.device_index()));
    const Device& owner = device(stream.device_index());
    if (*event == nullptr) {
      auto made = std::make_unique<Event>(Event{stream.device_index()});
      const uint64_t flags = flag == c10::EventFlag::BACKEND_DEFAULT ? DL_EVENT_TIMING : 0;
      if (!stands_in(owner)) {
        owner.vendor->call(&dl_vendor_table_t::event_create, "event_create", owner.local, flags,
                           &made->handle);
      }
      *event = made.release();
    }
    auto* recorded = static_cast<Event*>(*event);
    TORCH_CHECK(recorded->device == stream.device_index(), "[dl] an event of dl:", recorded->device,
                " cannot be recorded on a stream of dl:", static_cast<int>(stream.device_index()));
    if (stands_in(owner)) {
      recorded->moment = std::chrono::steady_clock::now();
      return;
    }
    recorded->errors = ErrorMark(stream);
    owner.vendor->call(&dl_vendor_table_t::event_record, "event_record", owner.local,
                       recorded->handle, native_stream(stream));
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event == nullptr) return;
    const auto* recorded = static_cast<Event*>(event);
    const Device& waiting = device(stream.device_index());
    const Device& owner = owner_of(recorded);
    if (owner.synchronous) return;
    if (owner.vendor == waiting.vendor && waiting.vendor->slots().stream_wait_event != nullptr) {
      waiting.vendor->call(&dl_vendor_table_t::stream_wait_event, "stream_wait_event",
                           waiting.local, native_stream(stream), recorded->handle);
    } else {
      // Vendors do not know each other's events, and some do not support the wait: the host waits
      // instead.
      owner.vendor->call(&dl_vendor_table_t::event_synchronize, "event_synchronize", owner.local,
                         recorded->handle);
    }
  }
  bool queryEvent(void* event) const override {
    if (event == nullptr) return true;
    const auto* recorded = static_cast<Event*>(event);
    const Device& owner = owner_of(recorded);
    if (stands_in(owner)) return true;
    int32_t finished = 0;
    owner.vendor->call(&dl_vendor_table_t::event_query, "event_query", owner.local,
                       recorded->handle, &finished);
    return finished != 0;
  }
  void synchronizeEvent(void* event) const override {
    if (event == nullptr) return;
    const auto* recorded = static_cast<Event*>(event);
    const Device& owner = owner_of(recorded);
    if (stands_in(owner)) return;
    owner.vendor->call(&dl_vendor_table_t::event_synchronize, "event_synchronize", owner.local,
                       recorded->handle);
    recorded->errors.raise();
  }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override {
    if (event == nullptr) return;
    const std::unique_ptr<Event> owned(static_cast<Event*>(event));
    if (in_bad_fork()) return;
    const Device& owner = owner_of(owned.get());
    if (stands_in(owner)) return;
    owner.vendor->call_noexcept(&dl_vendor_table_t::event_destroy, "event_destroy", owner.local,
                                owned->handle);
  }
  double elapsedTime(void* start, void* end, const c10::DeviceIndex) const override {
    TORCH_CHECK(start != nullptr && end != nullptr,
                "[dl] both events must be recorded before elapsed_time can be read");
    const auto* first = static_cast<Event*>(start);
    const auto* last = static_cast<Event*>(end);
    TORCH_CHECK(first->device == last->device,
                "[dl] elapsed_time needs two events of one device, got dl:", first->device,
                " and dl:", last->device);
    const Device& owner = owner_of(first);
    if (stands_in(owner)) {
      return std::chrono::duration<double, std::milli>(last->moment - first->moment).count();
    }
    double milliseconds = 0;
    owner.vendor->call(&dl_vendor_table_t::event_elapsed, "event_elapsed", owner.local,
                       first->handle, last->handle, &milliseconds);
    return milliseconds;
  }
};

}  // namespace

void register_guard() {
  static c10::impl::DeviceGuardImplRegistrar registrar(kDeviceType, new Guard);
}

}  // namespace dl::core
