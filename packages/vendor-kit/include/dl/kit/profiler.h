// The profiler extension over a Recorder (recorder.h), for a vendor that has
//
//   static auto& recorder()                                 of the process
//   static int traced_device(int32_t device)                the driver's number of a device
//   std::map<uint32_t, void*> traced_streams(int32_t)       streams by the tracer's numbers
#ifndef DL_KIT_PROFILER_H_
#define DL_KIT_PROFILER_H_

#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/extension.h"
#include "dl/kit/recorder.h"
#include "dl/kit/table.h"
#include "dl/profiler.h"

DL_KIT_BEGIN

namespace detail {

// Slots of the extension.
template <class V>
struct Profiling {
  struct Activities : dl_activities_t {
    std::vector<Recorded> owned;
    std::vector<dl_activity_t> shown;
  };

  static int64_t host_now() {
    timespec now{};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }

  static dl_activities_t* activities_of(V& vendor, int32_t device) {
    auto made = std::make_unique<Activities>();
    made->struct_size = sizeof(dl_activities_t);
    made->record_size = sizeof(dl_activity_t);
    made->owned = V::recorder().collect(V::traced_device(device), &made->dropped);
    const std::map<uint32_t, void*> streams = vendor.traced_streams(device);
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

  static dl_status_t* start(dl_vendor_t* vendor, int32_t device, uint64_t flags) {
    return device_slot<V>(vendor, device, [&](V&) {
      if (flags != 0)
        throw Error(DL_INVALID_ARGUMENT,
                    "the flags of a profiler must be 0, not " + std::to_string(flags));
      V::recorder().start(V::traced_device(device));
    });
  }
  static dl_status_t* stop(dl_vendor_t* vendor, int32_t device) {
    return device_slot<V>(vendor, device, [&](V& own) {
      own.device_synchronize(device);
      V::recorder().stop(V::traced_device(device));
    });
  }
  static dl_status_t* collect(dl_vendor_t* vendor, int32_t device, dl_activities_t** activities) {
    return device_slot<V>(vendor, device,
                          [&](V& own) { *activities = activities_of(own, device); });
  }
  static dl_status_t* clock(dl_vendor_t* vendor, int32_t device, dl_clock_t* clock) {
    return device_slot<V>(vendor, device, [&](V&) {
      dl_clock_t found{};
      const int64_t before = host_now();
      found.device = V::recorder().now();
      found.uncertainty = host_now() - before;
      found.host = before + found.uncertainty / 2;
      fill(clock, found);
    });
  }
  static dl_status_t* correlate(dl_vendor_t* vendor, uint64_t correlation, uint64_t* before) {
    return slot<V>(vendor, [&](V&) {
      const uint64_t was = V::recorder().correlate(correlation);
      if (before != nullptr) *before = was;
    });
  }
};

}  // namespace detail

template <class V>
dl_extension_t* profiler_extension(dl_extension_t* next) {
  using Slots = detail::Profiling<V>;
  static dl_profiler_extension_t table{};
  table.struct_size = sizeof table;
  table.type = DL_EXT_PROFILER;
  table.next = next;
  table.start = Slots::start;
  table.stop = Slots::stop;
  table.collect = Slots::collect;
  table.clock = Slots::clock;
  table.correlate = Slots::correlate;
  return reinterpret_cast<dl_extension_t*>(&table);
}

DL_KIT_END

#endif  // DL_KIT_PROFILER_H_
