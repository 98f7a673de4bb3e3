// Slots of the profiler extension with their checks; part of dl/checked.hpp.
#ifndef DL_CHECKED_PROFILER_HPP_
#define DL_CHECKED_PROFILER_HPP_

#include <deque>
#include <unordered_map>
#include <vector>

#include "dl/checked_slots.hpp"

namespace dl::checked::profiler {

#pragma GCC visibility push(hidden)

using Table = dl_profiler_extension_t;

inline constexpr uint64_t kMostActivities = uint64_t{1} << 28;

struct Activities : dl_activities_t {
  std::vector<dl_activity_t> list;
  std::deque<std::string> names;
};

// Names of activities; each distinct address is read once.
class Names {
 public:
  explicit Names(std::deque<std::string>& kept) : kept_(kept) {}

  const char* printable(const char* foreign) {
    const auto [entry, inserted] = known_.try_emplace(foreign, nullptr);
    if (inserted) entry->second = kept_.emplace_back(foreign::read_text(foreign)).c_str();
    return entry->second;
  }

 private:
  std::deque<std::string>& kept_;
  std::unordered_map<const char*, const char*> known_;
};

// Copies the library's records into our own and releases the library's.
inline dl_status_t* take_activities(int32_t device, dl_activities_t* foreign,
                                    dl_activities_t** activities) {
  if (foreign == nullptr) return defect("it reports success but returns no activities");
  if (!foreign::readable(foreign, sizeof(foreign->struct_size)))
    return defect("it returns activities" + at(foreign));
  const uint64_t size = foreign->struct_size;
  if (!DL_CHECKED_REACHES(size, dl_activities_t, records) || size > kLongestStruct ||
      !foreign::readable(foreign, size))
    return defect(format("it returns activities whose struct has %" PRIu64 " bytes", size));
  const uint64_t count = foreign->count, step = foreign->record_size;
  if (count > kMostActivities || step < sizeof(dl_activity_t) || step > kLongestStruct ||
      (count != 0 && !foreign::readable(foreign->records, count * step)))
    return defect(format("its %" PRIu64 " records of %" PRIu64
                         " bytes at %p are not memory of this process",
                         count, step, static_cast<const void*>(foreign->records)));
  auto own = std::make_unique<Activities>();
  own->list.resize(count);
  Names names(own->names);
  for (uint64_t i = 0; i < count; ++i) {
    dl_activity_t& record = own->list[i];
    std::memcpy(&record, reinterpret_cast<const char*>(foreign->records) + i * step, sizeof record);
    record.name = names.printable(record.name);
    if (record.end < record.start)
      return defect(format("its record %" PRIu64 " ends before it starts", i));
    if (record.device != device)
      return defect(
          format("its record %" PRIu64 " is of device %d, not %d", i, record.device, device));
    if (i > 0 && record.start < own->list[i - 1].start)
      return defect(format("its record %" PRIu64 " starts before the previous one", i));
  }
  if (DL_CHECKED_REACHES(size, dl_activities_t, dropped)) own->dropped = foreign->dropped;
  if (DL_CHECKED_REACHES(size, dl_activities_t, release) && callable(foreign->release))
    foreign->release(foreign);
  own->struct_size = sizeof(dl_activities_t);
  own->record_size = sizeof(dl_activity_t);
  own->count = count;
  own->records = own->list.data();
  own->release = [](dl_activities_t* self) { delete static_cast<Activities*>(self); };
  *activities = own.release();
  return nullptr;
}

inline dl_status_t* collect(dl_vendor_t* self, int32_t device,
                            dl_activities_t** activities) noexcept {
  *activities = nullptr;
  dl_activities_t* found = nullptr;
  if (dl_status_t* status = Slot<&Table::collect>::call(self, device, &found)) return status;
  return guarded([&] { return take_activities(device, found, activities); });
}

inline dl_status_t* clock(dl_vendor_t* self, int32_t device, dl_clock_t* clock) noexcept {
  if (dl_status_t* status = filled(
          clock, "a clock",
          [&](dl_clock_t* given) { return Slot<&Table::clock>::call(self, device, given); },
          [](dl_clock_t&) {}))
    return status;
  if (DL_CHECKED_REACHES(clock->struct_size, dl_clock_t, uncertainty) && clock->uncertainty < 0)
    return defect(format("its clock is uncertain by %" PRId64 " nanoseconds", clock->uncertainty));
  return nullptr;
}

inline void wrap(const Table& theirs, Table& ours) {
  DL_CHECKED_AS_IT_IS(start)
  DL_CHECKED_AS_IT_IS(stop)
  DL_CHECKED_OURS(collect)
  DL_CHECKED_OURS(clock)
  DL_CHECKED_AS_IT_IS(correlate)
  DL_CHECKED_LAST(correlate);
}

#pragma GCC visibility pop

}  // namespace dl::checked::profiler

#endif  // DL_CHECKED_PROFILER_HPP_
