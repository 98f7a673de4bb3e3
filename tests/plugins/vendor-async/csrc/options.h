#ifndef DL_ASYNC_TEST_OPTIONS_H_
#define DL_ASYNC_TEST_OPTIONS_H_

#include <cstdint>

#include "lie.h"

namespace dl::async_test {

/** The DL_ASYNC_TEST_* variables, read once per instance. Throws Error for an invalid value. */
struct Options {
  static Options from_environment();

  int32_t devices = 2;
  uint64_t memory_bytes = uint64_t{2} << 30;
  uint64_t pinned_bytes = uint64_t{1} << 40;
  uint64_t delay_us = 0;
  uint64_t activities = uint64_t{1} << 20;
  uint64_t padding = 0;   // allocation_padding of the devices
  uint64_t id_bytes = 0;  // size of the communicators' ids; 0: dl_communicator_id_t
  bool faults = false;
  bool forgets = false;
  Lie lie = Lie::kNone;
};

}  // namespace dl::async_test

#endif
