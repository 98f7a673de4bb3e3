#include "slots.h"

namespace dl::async_test {
namespace {

dl_status_t* event_create(dl_vendor_t* vendor, int32_t index, uint64_t flags, void** event) {
  return device_slot(vendor, index, [&](Instance& instance, Device& device) {
    *event = instance.create_event(device.index(), (flags & DL_EVENT_TIMING) != 0);
  });
}

dl_status_t* event_destroy(dl_vendor_t* vendor, int32_t index, void* event) {
  return device_slot(vendor, index,
                     [&](Instance& instance, Device&) { instance.destroy_event(index, event); });
}

dl_status_t* event_record(dl_vendor_t* vendor, int32_t index, void* event, void* stream) {
  return device_slot(vendor, index, [&](Instance& instance, Device& device) {
    const auto recorded = instance.event(index, event);
    recorded->latest = device.stream(stream)->record();
  });
}

dl_status_t* event_synchronize(dl_vendor_t* vendor, int32_t index, void* event) {
  return device_slot(vendor, index, [&](Instance& instance, Device& device) {
    if (const auto completion = instance.event(index, event)->latest) completion->wait();
    device.group().report();
  });
}

dl_status_t* event_query(dl_vendor_t* vendor, int32_t index, void* event, int32_t* finished) {
  return device_slot(vendor, index, [&](Instance& instance, Device&) {
    const auto completion = instance.event(index, event)->latest;
    *finished = completion == nullptr || completion->finished() ? 1 : 0;
  });
}

dl_status_t* event_elapsed(dl_vendor_t* vendor, int32_t index, void* start, void* end,
                           double* milliseconds) {
  return device_slot(vendor, index, [&](Instance& instance, Device&) {
    *milliseconds =
        elapsed_milliseconds(*instance.event(index, start), *instance.event(index, end));
  });
}

}  // namespace

void set_event_slots(dl_vendor_table_t& table) {
  table.event_create = event_create;
  table.event_destroy = event_destroy;
  table.event_record = event_record;
  table.event_synchronize = event_synchronize;
  table.event_query = event_query;
  table.event_elapsed = event_elapsed;
}

}  // namespace dl::async_test
