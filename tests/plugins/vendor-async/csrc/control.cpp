#include "dl_async_test/control.h"

#include <algorithm>
#include <cstring>

#include "extensions/extensions.h"
#include "slots.h"

namespace dl::async_test {
namespace {

// Tests call this from outside: the thread's current device does not matter.

dl_status_t* hold(dl_vendor_t* vendor, int32_t index, void* stream) {
  return slot(vendor, [&](Instance& all) { all.any_device(index).stream(stream)->hold(); });
}

dl_status_t* release(dl_vendor_t* vendor, int32_t index, void* stream) {
  return slot(vendor, [&](Instance& all) { all.any_device(index).stream(stream)->release(); });
}

dl_status_t* counters(dl_vendor_t* vendor, int32_t index, dl_async_test_counters_t* result) {
  return slot(vendor, [&](Instance& instance) {
    Device& device = instance.any_device(index);
    dl_async_test_counters_t all = {};
    all.struct_size = result->struct_size;
    all.items_executed = device.group().executed;
    all.items_started = device.group().started;
    all.items_enqueued = device.group().enqueued;
    all.live_allocations = device.memory().live_allocations();
    all.live_bytes = device.memory().live_bytes();
    std::memcpy(result, &all, std::min<size_t>(result->struct_size, sizeof all));
  });
}

}  // namespace

dl_extension_t* control_extension(dl_extension_t* next) {
  static dl_async_test_control_t control = {
      sizeof(dl_async_test_control_t), DL_EXT_ASYNC_TEST, next, hold, release, counters};
  return reinterpret_cast<dl_extension_t*>(&control);
}

}  // namespace dl::async_test
