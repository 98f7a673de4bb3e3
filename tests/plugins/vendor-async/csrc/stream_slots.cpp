#include "slots.h"

namespace dl::async_test {
namespace {

dl_status_t* stream_create(dl_vendor_t* vendor, int32_t index, int32_t, void** stream) {
  return device_slot(vendor, index,
                     [&](Instance&, Device& device) { *stream = device.create_stream(); });
}

dl_status_t* stream_destroy(dl_vendor_t* vendor, int32_t index, void* stream) {
  return device_slot(vendor, index,
                     [&](Instance&, Device& device) { device.destroy_stream(stream); });
}

dl_status_t* stream_synchronize(dl_vendor_t* vendor, int32_t index, void* stream) {
  return device_slot(vendor, index, [&](Instance&, Device& device) {
    device.stream(stream)->synchronize();
    device.group().report();
  });
}

dl_status_t* stream_query(dl_vendor_t* vendor, int32_t index, void* stream, int32_t* finished) {
  return device_slot(vendor, index, [&](Instance&, Device& device) {
    *finished = device.stream(stream)->finished() ? 1 : 0;
  });
}

dl_status_t* stream_wait_event(dl_vendor_t* vendor, int32_t index, void* stream, void* event) {
  return device_slot(vendor, index, [&](Instance& instance, Device& device) {
    const auto waiting = device.stream(stream);
    // An event that was never recorded counts as finished.
    if (auto completion = instance.event(event)->latest) waiting->wait_for(std::move(completion));
  });
}

}  // namespace

void set_stream_slots(dl_vendor_table_t& table) {
  table.stream_create = stream_create;
  table.stream_destroy = stream_destroy;
  table.stream_synchronize = stream_synchronize;
  table.stream_query = stream_query;
  table.stream_wait_event = stream_wait_event;
}

}  // namespace dl::async_test
