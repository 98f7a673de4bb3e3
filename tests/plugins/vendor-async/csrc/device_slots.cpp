#include <algorithm>
#include <cstddef>
#include <cstring>

#include "ops/dtypes.h"
#include "slots.h"

namespace dl::async_test {
namespace {

dl_status_t* present(dl_vendor_t* vendor, int32_t* present) {
  *present = Instance::of(vendor).device_count() > 0 ? 1 : 0;
  return nullptr;
}

dl_status_t* device_count(dl_vendor_t* vendor, int32_t* count) {
  return slot(vendor, [&](Instance& instance) { *count = instance.device_count(); });
}

dl_status_t* device_properties(dl_vendor_t* vendor, int32_t index,
                               dl_device_properties_t* properties) {
  return device_slot(vendor, index, [&](Instance&, Device& device) {
    dl_device_properties_t all = {};
    all.struct_size = properties->struct_size;
    std::strcpy(all.name, "asynchronous test device");
    all.total_memory = device.memory().total_bytes();
    all.major = 1;
    all.multiprocessor_count = 1;
    all.warp_size = 1;
    all.dtype_mask = numeric_dtype_mask();
    std::strcpy(all.architecture, "host-threads");
    std::memcpy(properties, &all, std::min<size_t>(properties->struct_size, sizeof all));
  });
}

dl_status_t* device_synchronize(dl_vendor_t* vendor, int32_t index) {
  return device_slot(vendor, index, [](Instance&, Device& device) { device.synchronize(); });
}

}  // namespace

void set_device_slots(dl_vendor_table_t& table) {
  table.present = present;
  table.device_count = device_count;
  table.device_properties = device_properties;
  table.device_synchronize = device_synchronize;
}

}  // namespace dl::async_test
