#include "extensions/profiler.h"

#include <ctime>
#include <map>
#include <memory>
#include <vector>

#include "dl/kit/extension.h"
#include "dl/profiler.h"
#include "extensions/recorder.h"
#include "runtime/vendor.h"

namespace dl::cuda {
namespace {

struct Activities : dl_activities_t {
  std::vector<Recorded> owned;
  std::vector<dl_activity_t> shown;
};

int64_t host_now() {
  timespec now{};
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

dl_activities_t* activities_of(Vendor& vendor, int32_t device) {
  auto made = std::make_unique<Activities>();
  made->struct_size = sizeof(dl_activities_t);
  made->record_size = sizeof(dl_activity_t);
  made->owned = Recorder::here().collect(Cards::here().device(device), &made->dropped);
  const std::map<uint32_t, void*> streams = vendor.streams().by_id(device);
  for (const Recorded& one : made->owned) {
    const auto stream = streams.find(one.stream);
    made->shown.push_back({one.name.c_str(), one.kind, device,
                           stream == streams.end() ? nullptr : stream->second, one.correlation,
                           one.start, one.end, one.bytes});
  }
  made->count = made->shown.size();
  made->records = made->shown.data();
  made->release = [](dl_activities_t* self) { delete static_cast<Activities*>(self); };
  return made.release();
}

dl_status_t* start(dl_vendor_t* vendor, int32_t device, uint64_t flags) {
  return kit::device_slot<Vendor>(vendor, device, [&](Vendor&) {
    if (flags != 0)
      throw kit::Error(DL_INVALID_ARGUMENT,
                       "flags of a profiler are zero, not " + std::to_string(flags));
    Recorder::here().start(Cards::here().device(device));
  });
}

dl_status_t* stop(dl_vendor_t* vendor, int32_t device) {
  return kit::device_slot<Vendor>(vendor, device, [&](Vendor& own) {
    own.device_synchronize(device);
    Recorder::here().stop(Cards::here().device(device));
  });
}

dl_status_t* collect(dl_vendor_t* vendor, int32_t device, dl_activities_t** activities) {
  return kit::device_slot<Vendor>(vendor, device,
                                  [&](Vendor& own) { *activities = activities_of(own, device); });
}

dl_status_t* clock(dl_vendor_t* vendor, int32_t device, dl_clock_t* clock) {
  return kit::device_slot<Vendor>(vendor, device, [&](Vendor&) {
    dl_clock_t found{};
    const int64_t before = host_now();
    found.device = Recorder::here().now();
    found.uncertainty = host_now() - before;
    found.host = before + found.uncertainty / 2;
    kit::fill(clock, found);
  });
}

dl_status_t* correlate(dl_vendor_t* vendor, uint64_t correlation, uint64_t* before) {
  return kit::slot<Vendor>(vendor, [&](Vendor&) {
    const uint64_t was = Recorder::here().correlate(correlation);
    if (before != nullptr) *before = was;
  });
}

}  // namespace

dl_extension_t* profiler_extension(dl_extension_t* next) {
  static dl_profiler_extension_t table = {sizeof(dl_profiler_extension_t),
                                          DL_EXT_PROFILER,
                                          next,
                                          start,
                                          stop,
                                          collect,
                                          clock,
                                          correlate};
  return reinterpret_cast<dl_extension_t*>(&table);
}

}  // namespace dl::cuda
