#ifndef DL_ASYNC_TEST_SLOTS_H_
#define DL_ASYNC_TEST_SLOTS_H_

#include <algorithm>
#include <cstring>
#include <string>

#include "error.h"
#include "instance.h"

namespace dl::async_test {

/** Run the body of an extension's slot that uses the driver: check for a fork, and convert
 * exceptions to a status. */
template <typename Body>
dl_status_t* slot(dl_vendor_t* vendor, const Body& body) noexcept {
  return kit::slot<Instance>(vendor, body);
}

/** Like slot, for one device, which the host has made current. */
template <typename Body>
dl_status_t* device_slot(dl_vendor_t* vendor, int32_t index, const Body& body) noexcept {
  return kit::device_slot<Instance>(
      vendor, index, [&](Instance& instance) { body(instance, instance.device(index)); });
}

/** Throws Error for NULL. `what` names it in the message. */
template <class T>
T& given(T* pointer, const char* what) {
  if (pointer == nullptr) throw Error(DL_INVALID_ARGUMENT, std::string(what) + " is NULL");
  return *pointer;
}

/** Fill a struct of the host, up to the fields that the host knows. Throws Error for NULL. */
template <class T>
void fill(T* to, T found) {
  if (!DL_HAS_FIELD(to, T, struct_size)) {
    throw Error(DL_INVALID_ARGUMENT,
                "the struct to fill is NULL or too short; set its struct_size");
  }
  found.struct_size = to->struct_size;
  std::memcpy(static_cast<void*>(to), &found, std::min<uint64_t>(found.struct_size, sizeof found));
}

}  // namespace dl::async_test

#endif
