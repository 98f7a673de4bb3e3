#ifndef DL_ASYNC_TEST_SLOTS_H_
#define DL_ASYNC_TEST_SLOTS_H_

#include "error.h"
#include "instance.h"

namespace dl::async_test {

/** Runs the body of an extension's slot that uses the driver: checks for a fork, turns exceptions
 * into a status. */
template <typename Body>
dl_status_t* slot(dl_vendor_t* vendor, const Body& body) noexcept {
  return kit::slot<Instance>(vendor, body);
}

/** As slot, for one device, which the host has made current. */
template <typename Body>
dl_status_t* device_slot(dl_vendor_t* vendor, int32_t index, const Body& body) noexcept {
  return kit::device_slot<Instance>(
      vendor, index, [&](Instance& instance) { body(instance, instance.device(index)); });
}

}  // namespace dl::async_test

#endif
