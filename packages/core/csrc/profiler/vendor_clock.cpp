#include "dl/profiler.h"

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "profiler/device_clock.h"
#include "runtime/device.h"

namespace dl::core::profiler {
namespace {

class VendorClock final : public DeviceClock {
 public:
  VendorClock(int index, const dl_profiler_extension_t& slots)
      : index_(index), owner_(device_unchecked(index)), slots_(slots) {}

  void start() override {
    call(slots_.start, "profiler.start", owner_.local, uint64_t{0});
    first_ = read();
  }
  void stop() override {
    call(slots_.stop, "profiler.stop", owner_.local);
    last_ = read();
  }

  void collect(const std::vector<size_t>& calls, Recorded& recorded) override {
    // Kernels are matched to calls by name: an operator's first kernel belongs to its first call,
    // and so on. Kernels with other names are matched in order.
    std::map<std::pair<uint64_t, std::string>, std::deque<size_t>> waiting;
    std::set<std::string> names;
    for (const size_t at : calls) {
      const HostCall& each = recorded.calls[at];
      waiting[{each.correlation, each.name}].push_back(at);
      waiting[{each.correlation, ""}].push_back(at);
      names.insert(each.name);
    }
    dl_activities_t* activities = nullptr;
    call(slots_.collect, "profiler.collect", owner_.local, &activities);
    if (activities == nullptr) return;
    if (activities->dropped > 0) {
      recorded.problems.push_back(std::to_string(activities->dropped) + " activities of dl:" +
                                  std::to_string(index_) + " were not recorded for lack of room");
    }
    const char* at = reinterpret_cast<const char*>(activities->records);
    for (uint64_t i = 0; i < activities->count; ++i, at += activities->record_size) {
      const auto& record = *reinterpret_cast<const dl_activity_t*>(at);
      DeviceWork work{record.name == nullptr ? "kernel" : record.name,
                      record.kind,
                      index_,
                      record.stream,
                      record.correlation,
                      host_time(record.start),
                      host_time(record.end),
                      record.bytes};
      const bool is_own = names.count(work.name) == 0;
      // Without an enclosing operator, kernels with other names cannot be matched.
      const auto found = is_own && work.correlation == 0
                             ? waiting.end()
                             : waiting.find({work.correlation, is_own ? "" : work.name});
      if (found != waiting.end() && !found->second.empty()) {
        work.call = static_cast<int64_t>(found->second.front());
        found->second.pop_front();
      }
      recorded.work.push_back(std::move(work));
    }
    if (activities->release != nullptr) activities->release(activities);
  }

 private:
  template <typename Slot, typename... Args>
  void call(Slot slot, const char* what, Args... args) const {
    owner_.vendor->call_extension(slot, what, args...);
  }

  dl_clock_t read() const {
    dl_clock_t clock{};
    clock.struct_size = sizeof clock;
    call(slots_.clock, "profiler.clock", owner_.local, &clock);
    return clock;
  }

  // The two clocks may drift, so the offset is interpolated linearly between two readings.
  int64_t host_time(int64_t moment) const {
    const int64_t passed = last_.device - first_.device;
    if (passed <= 0) return first_.host + (moment - first_.device);
    const double rate = static_cast<double>(last_.host - first_.host) / static_cast<double>(passed);
    return first_.host + static_cast<int64_t>(static_cast<double>(moment - first_.device) * rate);
  }

  int index_;
  const Device& owner_;
  const dl_profiler_extension_t& slots_;
  dl_clock_t first_{};
  dl_clock_t last_{};
};

}  // namespace

std::unique_ptr<DeviceClock> vendor_clock(int index) {
  const Device& owner = device_unchecked(index);
  const auto* slots = owner.vendor->extension<dl_profiler_extension_t>(DL_EXT_PROFILER);
  if (slots == nullptr || slots->start == nullptr || slots->stop == nullptr ||
      slots->collect == nullptr || slots->clock == nullptr)
    return nullptr;
  return std::make_unique<VendorClock>(index, *slots);
}

std::unique_ptr<DeviceClock> device_clock(int index) {
  if (auto clock = vendor_clock(index)) return clock;
  if (!device_unchecked(index).synchronous) {
    if (auto clock = event_clock(index)) return clock;
  }
  return host_clock(index);
}

}  // namespace dl::core::profiler
