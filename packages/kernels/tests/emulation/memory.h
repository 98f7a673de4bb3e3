// The device memory of the emulated GPU, as seen by the access checks.
#ifndef DL_KERNELS_TESTS_MEMORY_H_
#define DL_KERNELS_TESTS_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>

namespace emulation {

// Fill byte of new memory: as floats, NaN, which cannot pass for results; as integers, invalid
// indices.
inline constexpr char kNewByte = '\xff';

// One access of a byte, packed: work, block, thread, and number of barriers before it.
using Access = uint64_t;

// State of the bytes of an allocation.
struct Shadow {
  explicit Shadow(size_t bytes)
      : is_written(new bool[bytes]()),
        write(new Access[bytes]()),
        read(new Access[bytes]()),
        other_read(new Access[bytes]()) {}
  std::unique_ptr<bool[]> is_written;
  // The last write, and the last reads of two threads.
  std::unique_ptr<Access[]> write, read, other_read;
};

struct Allocation {
  char* pages;        // beginning of the first page
  size_t page_bytes;  // bytes of all pages
  char* address;      // address returned to the caller
  size_t bytes;
  std::unique_ptr<Shadow> shadow;

  Shadow& known() {
    if (shadow == nullptr) shadow = std::make_unique<Shadow>(bytes);
    return *shadow;
  }
};

// Return true for addresses in the device's address range, allocated or not.
bool is_device_address(const void* address);
// Return the allocation whose pages contain an address, or null.
Allocation* allocation_of(const void* address);
// Check the guard bytes around all allocations.
void check_surroundings();

}  // namespace emulation

#endif  // DL_KERNELS_TESTS_MEMORY_H_
