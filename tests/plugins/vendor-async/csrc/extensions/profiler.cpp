#include "dl/profiler.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "extensions/extensions.h"
#include "lie.h"
#include "slots.h"

namespace dl::async_test {
namespace {

struct Collected : dl_activities_t {
  std::vector<Activity> owned;
  std::vector<dl_activity_t> shown;
};

void tell_lies(dl_activity_t& activity) {
  if (lie_is(Lie::kActivityEndsBeforeItsStart)) activity.end = activity.start - 1;
  if (lie_is(Lie::kActivityIsOfAnotherDevice)) ++activity.device;
  if (lie_is(Lie::kActivityIsOfAnotherStream))
    activity.stream = activity.stream == nullptr ? static_cast<void*>(&activity) : nullptr;
}

dl_status_t* start(dl_vendor_t* vendor, int32_t index, uint64_t flags) {
  return device_slot(vendor, index, [&](Instance&, Device& device) {
    if (flags != 0) throw Error(DL_INVALID_ARGUMENT, "flags of a profiler are zero");
    device.group().profiler.start();
  });
}

dl_status_t* stop(dl_vendor_t* vendor, int32_t index) {
  return device_slot(vendor, index, [&](Instance&, Device& device) {
    device.group().profiler.stop();
    device.drain();
  });
}

dl_status_t* collect(dl_vendor_t* vendor, int32_t index, dl_activities_t** activities) {
  return device_slot(vendor, index, [&](Instance&, Device& device) {
    auto made = std::make_unique<Collected>();
    made->struct_size = sizeof(dl_activities_t);
    made->record_size = sizeof(dl_activity_t);
    made->owned = device.group().profiler.collect(&made->dropped);
    for (const Activity& one : made->owned) {
      made->shown.push_back({one.name.c_str(), one.work.kind, index, one.stream, one.correlation,
                             one.start, one.end, one.work.bytes});
      tell_lies(made->shown.back());
    }
    if (lie_is(Lie::kActivitiesAreOutOfOrder)) std::reverse(made->shown.begin(), made->shown.end());
    made->count = made->shown.size();
    made->records = made->shown.data();
    made->release = [](dl_activities_t* self) { delete static_cast<Collected*>(self); };
    *activities = made.release();
  });
}

dl_status_t* clock(dl_vendor_t* vendor, int32_t index, dl_clock_t* clock) {
  return device_slot(vendor, index, [&](Instance&, Device& device) {
    dl_clock_t found = {};
    const int64_t before = host_now();
    found.device = device.group().profiler.now();
    found.uncertainty = host_now() - before;
    found.host = before + found.uncertainty / 2;
    if (lie_is(Lie::kClockIsASecondOff)) found.host += 1'000'000'000;
    if (lie_is(Lie::kClockIsUncertainBelowZero)) found.uncertainty = -1;
    fill(clock, found);
  });
}

dl_status_t* correlate_slot(dl_vendor_t* vendor, uint64_t correlation, uint64_t* before) {
  return slot(vendor, [&](Instance& all) {
    const uint64_t was = correlate(all.number(), correlation);
    if (before != nullptr) *before = was;
  });
}

}  // namespace

dl_extension_t* profiler_extension(dl_extension_t* next) {
  static dl_profiler_extension_t profiler = {sizeof(dl_profiler_extension_t),
                                             DL_EXT_PROFILER,
                                             next,
                                             start,
                                             stop,
                                             collect,
                                             clock,
                                             correlate_slot};
  return reinterpret_cast<dl_extension_t*>(&profiler);
}

}  // namespace dl::async_test
