#include <memory>

#include "slots.h"

namespace dl::async_test {
namespace {

void destroy(dl_vendor_t* vendor) {
  Instance* instance = &Instance::of(vendor);
  // The threads live in the parent: there is nothing to join, and a lock may have been taken at the
  // fork.
  if (!instance->inherited_by_fork()) delete instance;
}

const dl_vendor_table_t* table() {
  static const dl_vendor_table_t table = [] {
    dl_vendor_table_t slots = {};
    slots.struct_size = sizeof slots;
    slots.extensions = control_extension();
    slots.name = "async";
    slots.version = DL_ASYNC_TEST_VERSION;
    slots.destroy = destroy;
    set_device_slots(slots);
    set_memory_slots(slots);
    set_stream_slots(slots);
    set_event_slots(slots);
    set_operator_slots(slots);
    return slots;
  }();
  return &table;
}

}  // namespace
}  // namespace dl::async_test

extern "C" DL_EXPORT dl_status_t* dl_vendor_v1(const dl_host_t*, dl_vendor_t** out) {
  using namespace dl::async_test;
  return guarded([&] { *out = new Instance(table(), Options::from_environment()); });
}
