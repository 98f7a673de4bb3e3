#include <atomic>
#include <chrono>

#include "runtime/instance.h"
#include "runtime/slots.h"
#include "runtime/status.h"

namespace dl::cpu {
namespace {

using Clock = std::chrono::steady_clock;

struct Event {
  bool timing;
  std::atomic<int64_t> nanoseconds{0};
  std::atomic<bool> recorded{false};
};

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
      .count();
}

}  // namespace

dl_status_t* event_create(dl_vendor_t* vendor, int32_t device, uint64_t flags,
                          void** event) noexcept {
  if (dl_status_t* status = check_device(vendor, device)) return status;
  return guarded([&]() -> dl_status_t* {
    auto* created = new Event;
    created->timing = (flags & DL_EVENT_TIMING) != 0;
    *event = created;
    return nullptr;
  });
}

dl_status_t* event_destroy(dl_vendor_t*, int32_t, void* event) noexcept {
  delete static_cast<Event*>(event);
  return nullptr;
}

dl_status_t* event_record(dl_vendor_t* vendor, int32_t device, void* event, void*) noexcept {
  if (dl_status_t* status = check_device(vendor, device)) return status;
  auto* recorded = static_cast<Event*>(event);
  if (recorded->timing) recorded->nanoseconds = now();
  recorded->recorded = true;
  return nullptr;
}

dl_status_t* event_synchronize(dl_vendor_t* vendor, int32_t device, void*) noexcept {
  return check_device(vendor, device);
}

dl_status_t* event_query(dl_vendor_t* vendor, int32_t device, void*, int32_t* finished) noexcept {
  if (dl_status_t* status = check_device(vendor, device)) return status;
  *finished = 1;
  return nullptr;
}

dl_status_t* event_elapsed(dl_vendor_t* vendor, int32_t device, void* start, void* end,
                           double* milliseconds) noexcept {
  if (dl_status_t* status = check_device(vendor, device)) return status;
  const auto& first = *static_cast<Event*>(start);
  const auto& last = *static_cast<Event*>(end);
  if (!first.timing || !last.timing) {
    return make_status(DL_INVALID_ARGUMENT,
                       "an event without timing; create both with DL_EVENT_TIMING");
  }
  if (!first.recorded || !last.recorded) {
    return make_status(DL_INVALID_ARGUMENT, "an event that was never recorded; record both first");
  }
  *milliseconds = static_cast<double>(last.nanoseconds - first.nanoseconds) * 1e-6;
  return nullptr;
}

}  // namespace dl::cpu
