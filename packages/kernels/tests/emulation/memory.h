// The device memory of the emulated GPU, as those who watch it see it.
#ifndef DL_KERNELS_TESTS_MEMORY_H_
#define DL_KERNELS_TESTS_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>

namespace emulation {

// Of new memory: as floats, these are no numbers that pass for results; as integers, they are no
// places.
inline constexpr char kNewByte = '\xff';

// One access of a byte, packed: which work, block, thread, and behind how many barriers.
using Access = uint64_t;

// What is known of the bytes of an allocation.
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
  char* pages;        // where the first page begins
  size_t page_bytes;  // all of them
  char* address;      // what was handed out
  size_t bytes;
  std::unique_ptr<Shadow> shadow;

  Shadow& known() {
    if (shadow == nullptr) shadow = std::make_unique<Shadow>(bytes);
    return *shadow;
  }
};

// Whether an address is one of the device, of an allocation or not.
bool is_device_address(const void* address);
// The allocation in whose pages an address lies; null: there is none.
Allocation* allocation_of(const void* address);
// Looks at the bytes around all allocations.
void check_surroundings();

}  // namespace emulation

#endif  // DL_KERNELS_TESTS_MEMORY_H_
