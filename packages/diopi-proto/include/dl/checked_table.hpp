// Slots of the vendor table with their checks; part of dl/checked.hpp.
#ifndef DL_CHECKED_TABLE_HPP_
#define DL_CHECKED_TABLE_HPP_

#include <cmath>

#include "dl/checked_slots.hpp"

namespace dl::checked {

#pragma GCC visibility push(hidden)

inline void destroy(dl_vendor_t* self) noexcept {
  Vendor* vendor = &Vendor::of(self);
  // An error is dropped: `destroy` returns no status.
  dl_status_t* status = guarded([&]() -> dl_status_t* {
    vendor->theirs().destroy(vendor->inner());
    return nullptr;
  });
  if (status != nullptr) status->release(status);
  delete vendor;
}

inline dl_status_t* present(dl_vendor_t* self, int32_t* present) noexcept {
  *present = 0;
  int32_t found = 0;
  if (dl_status_t* status = Slot<&dl_vendor_table_t::present>::call(self, &found)) return status;
  if (found != 0 && found != 1)
    return defect(format("it returns %d, which is neither 0 nor 1", found));
  *present = found;
  return nullptr;
}

inline dl_status_t* device_count(dl_vendor_t* self, int32_t* count) noexcept {
  *count = 0;
  int32_t found = 0;
  if (dl_status_t* status = Slot<&dl_vendor_table_t::device_count>::call(self, &found))
    return status;
  if (found < 0 || found > kMostDevices) return defect(format("it reports %d devices", found));
  *count = found;
  return nullptr;
}

inline dl_status_t* device_properties(dl_vendor_t* self, int32_t device,
                                      dl_device_properties_t* properties) noexcept {
  if (dl_status_t* status = filled(
          properties, "a device's properties",
          [&](dl_device_properties_t* given) {
            return Slot<&dl_vendor_table_t::device_properties>::call(self, device, given);
          },
          [](dl_device_properties_t& found) {
            tidy(found.name);
            tidy(found.architecture);
          }))
    return status;
  if (!DL_CHECKED_REACHES(properties->struct_size, dl_device_properties_t, allocation_padding))
    return nullptr;
  const uint64_t padding = properties->allocation_padding;
  properties->allocation_padding = 0;
  if (padding > kMostPadding)
    return defect(format("it asks for %" PRIu64 " bytes of allocation padding; at most %" PRIu64
                         " are allowed",
                         padding, kMostPadding));
  if (padding > 0 && (Vendor::of(self).theirs().capabilities & DL_CAP_ANY_HOST_POINTER) != 0)
    return defect(format("it asks for %" PRIu64
                         " bytes of allocation padding, which contradicts DL_CAP_ANY_HOST_POINTER",
                         padding));
  properties->allocation_padding = padding;
  return nullptr;
}

inline dl_status_t* memory_allocate(dl_vendor_t* self, int32_t device, uint64_t bytes,
                                    void** memory) noexcept {
  *memory = nullptr;
  void* found = nullptr;
  if (dl_status_t* status =
          Slot<&dl_vendor_table_t::memory_allocate>::call(self, device, bytes, &found))
    return status;
  if (found == nullptr)
    return defect(format("it reports success but returns no memory (%" PRIu64 " bytes)", bytes));
  // The memory is not freed, because passing a wrong address to memory_free could crash.
  if (reinterpret_cast<uintptr_t>(found) % kAlignment != 0) {
    return defect(format("its memory at %p is not aligned to 64 bytes", found));
  }
  const bool of_the_host = Vendor::of(self).theirs().capabilities & DL_CAP_HOST_ACCESSIBLE;
  if (of_the_host && !foreign::writable(found, bytes))
    return defect(format("its memory of %" PRIu64
                         " bytes at %p is not memory that the host can write, which "
                         "DL_CAP_HOST_ACCESSIBLE promises",
                         bytes, found));
  *memory = found;
  return nullptr;
}

inline dl_status_t* host_allocate(dl_vendor_t* self, uint64_t bytes, void** memory) noexcept {
  *memory = nullptr;
  void* found = nullptr;
  if (dl_status_t* status = Slot<&dl_vendor_table_t::host_allocate>::call(self, bytes, &found))
    return status;
  if (found == nullptr)
    return defect(format("it reports success but returns no memory (%" PRIu64 " bytes)", bytes));
  if (!foreign::writable(found, bytes))
    return defect(format("its host memory of %" PRIu64
                         " bytes at %p is not memory that the host can write",
                         bytes, found));
  *memory = found;
  return nullptr;
}

inline dl_status_t* memory_info(dl_vendor_t* self, int32_t device, uint64_t* free_bytes,
                                uint64_t* total_bytes) noexcept {
  *free_bytes = *total_bytes = 0;
  uint64_t left = 0, total = 0;
  if (dl_status_t* status =
          Slot<&dl_vendor_table_t::memory_info>::call(self, device, &left, &total))
    return status;
  if (left > total || total > uint64_t{INT64_MAX})
    return defect(format("it reports that %" PRIu64 " of %" PRIu64 " bytes are free", left, total));
  *free_bytes = left;
  *total_bytes = total;
  return nullptr;
}

inline dl_status_t* operators(dl_vendor_t* self, const dl_operator_t** list,
                              uint64_t* count) noexcept {
  *list = nullptr;
  *count = 0;
  const dl_operator_t* found = nullptr;
  uint64_t length = 0;
  if (dl_status_t* status = Slot<&dl_vendor_table_t::operators>::call(self, &found, &length))
    return status;
  if (length == 0) return nullptr;
  if (length > kMostOperators) return defect(format("it reports %" PRIu64 " operators", length));
  foreign::Pages pages;
  if (!foreign::readable(found, length * sizeof(dl_operator_t), pages))
    return defect(format("its list of %" PRIu64 " operators at %p is not memory of this process",
                         length, static_cast<const void*>(found)));
  for (uint64_t i = 0; i < length; ++i) {
    if (found[i].name == nullptr || foreign::text_length(found[i].name, 256, pages) < 0)
      return defect(format("operator %" PRIu64 " of %" PRIu64 " has no name", i, length));
    const auto* function = reinterpret_cast<const void*>(found[i].function);
    if (function != nullptr && !foreign::executable(function))
      return defect(format("operator %" PRIu64 " of %" PRIu64 ", ", i, length) +
                    foreign::read_text(found[i].name, 256) + ", is" + not_code(function));
  }
  *list = found;
  *count = length;
  return nullptr;
}

// A negative time is valid: the caller may pass the later event first.
inline dl_status_t* event_elapsed(dl_vendor_t* self, int32_t device, void* start, void* end,
                                  double* milliseconds) noexcept {
  *milliseconds = 0;
  double found = 0;
  if (dl_status_t* status =
          Slot<&dl_vendor_table_t::event_elapsed>::call(self, device, start, end, &found))
    return status;
  if (!std::isfinite(found))
    return defect(format("it reports %g milliseconds between two events", found));
  *milliseconds = found;
  return nullptr;
}

// Called before operators, which are not wrapped by a checked slot.
inline dl_status_t* device_set(dl_vendor_t* self, int32_t device) noexcept {
  return guarded([&] { return make_current(Vendor::of(self), device); });
}

inline const char* last_error(dl_vendor_t* self) noexcept {
  thread_local char text[1024];
  const char* said = nullptr;
  dl_status_t* thrown = guarded([&]() -> dl_status_t* {
    said = Vendor::of(self).theirs().last_error(Vendor::of(self).inner());
    return nullptr;
  });
  if (thrown != nullptr) thrown->release(thrown);
  if (said == nullptr) return nullptr;
  dl_status_t* failed = guarded([&]() -> dl_status_t* {
    const std::string shown = foreign::read_text(said, sizeof text - 1);
    std::memcpy(text, shown.c_str(), shown.size() + 1);
    return nullptr;
  });
  if (failed == nullptr) return text;
  failed->release(failed);
  return nullptr;
}

inline void Vendor::fill() {
  using Table = dl_vendor_table_t;
  const Table& theirs = theirs_;
  Table& ours = ours_;
  ours.struct_size = sizeof ours;
  ours.name = name_.c_str();
  ours.version = version_.c_str();
  ours.capabilities = theirs.capabilities;
  ours.destroy = checked::destroy;
  DL_CHECKED_OURS(present)
  DL_CHECKED_OURS(device_count)
  DL_CHECKED_OURS(device_properties)
  DL_CHECKED_AS_IT_IS(device_synchronize)
  DL_CHECKED_OURS(memory_allocate)
  DL_CHECKED_AS_IT_IS(memory_free)
  DL_CHECKED_OURS(memory_info)
  DL_CHECKED_OURS(host_allocate)
  DL_CHECKED_AS_IT_IS(host_free)
  DL_CHECKED_AS_IT_IS(memory_copy)
  DL_CHECKED_AS_IT_IS(memory_set)
  DL_CHECKED_AS_IT_IS(stream_create)
  DL_CHECKED_AS_IT_IS(stream_destroy)
  DL_CHECKED_AS_IT_IS(stream_synchronize)
  DL_CHECKED_AS_IT_IS(stream_query)
  DL_CHECKED_AS_IT_IS(stream_wait_event)
  DL_CHECKED_AS_IT_IS(event_create)
  DL_CHECKED_AS_IT_IS(event_destroy)
  DL_CHECKED_AS_IT_IS(event_record)
  DL_CHECKED_AS_IT_IS(event_synchronize)
  DL_CHECKED_AS_IT_IS(event_query)
  DL_CHECKED_OURS(event_elapsed)
  DL_CHECKED_OURS(operators)
  DL_CHECKED_OURS(last_error)
  DL_CHECKED_OURS(device_set)
  DL_CHECKED_LAST(device_set);
}

#pragma GCC visibility pop

}  // namespace dl::checked

#endif  // DL_CHECKED_TABLE_HPP_
