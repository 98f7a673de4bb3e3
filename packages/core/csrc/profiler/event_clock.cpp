#include "calls/call.h"
#include "dl/profiler.h"
#include "profiler/device_clock.h"
#include "runtime/device.h"

namespace dl::core::profiler {
namespace {

// Clock of events: times are relative to an event whose completion the host has observed.
class EventClock final : public DeviceClock {
 public:
  explicit EventClock(const Device& owner) : owner_(owner) {}
  ~EventClock() override {
    if (origin_ != nullptr) destroy(origin_);
  }

  void start() override {
    origin_ = mark(nullptr);
    owner_.vendor->call(&dl_vendor_table_t::event_synchronize, "event_synchronize", owner_.local,
                        origin_);
    origin_time_ = static_cast<int64_t>(now_ns());
  }

  void stop() override {
    owner_.vendor->call(&dl_vendor_table_t::device_synchronize, "device_synchronize", owner_.local);
  }

  bool marks() const override { return true; }
  void* mark(void* stream) override {
    void* event = nullptr;
    owner_.vendor->call(&dl_vendor_table_t::event_create, "event_create", owner_.local,
                        uint64_t{DL_EVENT_TIMING}, &event);
    owner_.vendor->call(&dl_vendor_table_t::event_record, "event_record", owner_.local, event,
                        stream);
    return event;
  }

  void collect(const std::vector<size_t>& calls, Recorded& recorded) override {
    for (const size_t at : calls) {
      HostCall& call = recorded.calls[at];
      if (call.first_event == nullptr || call.last_event == nullptr) continue;
      recorded.work.push_back({call.shown(), DL_ACTIVITY_KERNEL, call.device, call.stream,
                               call.correlation, time_of(call.first_event),
                               time_of(call.last_event), 0, static_cast<int64_t>(at)});
      destroy(call.first_event);
      destroy(call.last_event);
    }
  }

 private:
  int64_t time_of(void* event) const {
    double milliseconds = 0;
    owner_.vendor->call(&dl_vendor_table_t::event_elapsed, "event_elapsed", owner_.local, origin_,
                        event, &milliseconds);
    return origin_time_ + static_cast<int64_t>(milliseconds * 1e6);
  }
  void destroy(void* event) const {
    owner_.vendor->call_noexcept(&dl_vendor_table_t::event_destroy, "event_destroy", owner_.local,
                                 event);
  }

  const Device& owner_;
  void* origin_ = nullptr;
  int64_t origin_time_ = 0;
};

}  // namespace

std::unique_ptr<DeviceClock> event_clock(int index) {
  const Device& owner = device_unchecked(index);
  const dl_vendor_table_t& slots = owner.vendor->slots();
  const bool timed = slots.event_create != nullptr && slots.event_destroy != nullptr &&
                     slots.event_record != nullptr && slots.event_synchronize != nullptr &&
                     slots.event_elapsed != nullptr && slots.device_synchronize != nullptr;
  return timed ? std::make_unique<EventClock>(owner) : nullptr;
}

}  // namespace dl::core::profiler
