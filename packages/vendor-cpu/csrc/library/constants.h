// Memory that a host has declared constant (dl/constants.h), and prepacked weights: copies in the
// layout that is fastest for an operation.
#ifndef DL_CPU_LIBRARY_CONSTANTS_H_
#define DL_CPU_LIBRARY_CONSTANTS_H_

#include <cstdint>
#include <functional>
#include <memory>

namespace dl::cpu::constants {

// True if this thread's calls use constants. Other threads read only this and take no lock.
inline thread_local bool in_use = false;

void declare(const void* memory, uint64_t bytes);
// Returns false unless exactly this range was declared.
bool forget(const void* memory, uint64_t bytes);

// Return true if the calling thread may treat the memory as constant.
bool contains(const void* memory);

// Prepacked bytes of constant memory; shared by the calls that use them.
struct Packed {
  explicit Packed(uint64_t size);
  ~Packed();
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;

  void* data;
  uint64_t bytes;
};

// Conversion between two layouts, by the numbers of their descriptions.
struct Packing {
  int64_t given, packed;
};

// Return `memory` in another layout, for all operations that prefer it. On the first call, `make`
// packs it, and returns false if it cannot. Null if it cannot be packed, is not constant for this
// thread, or host memory is exhausted.
std::shared_ptr<const Packed> kept(Packing packing, const void* memory, uint64_t bytes,
                                   const std::function<bool(void*)>& make);

struct Statistics {
  uint64_t ranges, bytes, kept, kept_bytes;
};
Statistics statistics();

}  // namespace dl::cpu::constants

#endif  // DL_CPU_LIBRARY_CONSTANTS_H_
