#ifndef DL_ASYNC_TEST_SLOTS_H_
#define DL_ASYNC_TEST_SLOTS_H_

#include <utility>

#include "dl/vendor.h"
#include "error.h"
#include "instance.h"

namespace dl::async_test {

/** Runs the body of a slot that uses the driver: checks for a fork, turns exceptions into a status.
 */
template <typename Body>
dl_status_t* slot(dl_vendor_t* vendor, Body&& body) noexcept {
  return guarded([&] {
    Instance& instance = Instance::of(vendor);
    instance.enter();
    body(instance);
  });
}

/** As slot, for one device. */
template <typename Body>
dl_status_t* device_slot(dl_vendor_t* vendor, int32_t device, Body&& body) noexcept {
  return slot(vendor, [&](Instance& instance) { body(instance, instance.device(device)); });
}

/** Each fills its part of the table. */
void set_device_slots(dl_vendor_table_t& table);
void set_memory_slots(dl_vendor_table_t& table);
void set_stream_slots(dl_vendor_table_t& table);
void set_event_slots(dl_vendor_table_t& table);
void set_operator_slots(dl_vendor_table_t& table);

/** The extension of dl_async_test/control.h. */
dl_extension_t* control_extension();

}  // namespace dl::async_test

#endif
