// The functions behind the slots of the vendor table, by file.
#ifndef DL_CPU_RUNTIME_SLOTS_H_
#define DL_CPU_RUNTIME_SLOTS_H_

#include "dl/vendor.h"

namespace dl::cpu {

// device.cpp
dl_status_t* present(dl_vendor_t* vendor, int32_t* present) noexcept;
dl_status_t* device_count(dl_vendor_t* vendor, int32_t* count) noexcept;
dl_status_t* device_properties(dl_vendor_t* vendor, int32_t device,
                               dl_device_properties_t* properties) noexcept;
dl_status_t* device_synchronize(dl_vendor_t* vendor, int32_t device) noexcept;

// memory.cpp
dl_status_t* memory_allocate(dl_vendor_t* vendor, int32_t device, uint64_t bytes,
                             void** memory) noexcept;
dl_status_t* memory_free(dl_vendor_t* vendor, int32_t device, void* memory) noexcept;
dl_status_t* memory_info(dl_vendor_t* vendor, int32_t device, uint64_t* free_bytes,
                         uint64_t* total_bytes) noexcept;
dl_status_t* host_allocate(dl_vendor_t* vendor, uint64_t bytes, void** memory) noexcept;
dl_status_t* host_free(dl_vendor_t* vendor, void* memory) noexcept;
dl_status_t* memory_copy(dl_vendor_t* vendor, int32_t device, void* destination, const void* source,
                         uint64_t bytes, int32_t kind, void* stream) noexcept;
dl_status_t* memory_set(dl_vendor_t* vendor, int32_t device, void* memory, int32_t value,
                        uint64_t bytes, void* stream) noexcept;

// stream.cpp
dl_status_t* stream_create(dl_vendor_t* vendor, int32_t device, int32_t priority,
                           void** stream) noexcept;
dl_status_t* stream_destroy(dl_vendor_t* vendor, int32_t device, void* stream) noexcept;
dl_status_t* stream_synchronize(dl_vendor_t* vendor, int32_t device, void* stream) noexcept;
dl_status_t* stream_query(dl_vendor_t* vendor, int32_t device, void* stream,
                          int32_t* finished) noexcept;
dl_status_t* stream_wait_event(dl_vendor_t* vendor, int32_t device, void* stream,
                               void* event) noexcept;

// event.cpp
dl_status_t* event_create(dl_vendor_t* vendor, int32_t device, uint64_t flags,
                          void** event) noexcept;
dl_status_t* event_destroy(dl_vendor_t* vendor, int32_t device, void* event) noexcept;
dl_status_t* event_record(dl_vendor_t* vendor, int32_t device, void* event, void* stream) noexcept;
dl_status_t* event_synchronize(dl_vendor_t* vendor, int32_t device, void* event) noexcept;
dl_status_t* event_query(dl_vendor_t* vendor, int32_t device, void* event,
                         int32_t* finished) noexcept;
dl_status_t* event_elapsed(dl_vendor_t* vendor, int32_t device, void* start, void* end,
                           double* milliseconds) noexcept;

}  // namespace dl::cpu

#endif  // DL_CPU_RUNTIME_SLOTS_H_
