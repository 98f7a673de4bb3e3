/* Addresses of device memory in kernels of the stand-in device.
 *
 * Outside of kernels, an address of device memory has bit 62 set, which no host address has: a host
 * that reads device memory faults, as it would with a real device. Delete this file together with
 * driver.c. */
#ifndef ADDRESS_H_
#define ADDRESS_H_

#include <stdint.h>

#define DEVICE_BIT ((uintptr_t)1 << 62)

static inline void* device_address(void* memory) {
  return (void*)((uintptr_t)memory & ~DEVICE_BIT);
}

#endif /* ADDRESS_H_ */
