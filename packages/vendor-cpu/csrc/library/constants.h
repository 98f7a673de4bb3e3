// Memory that a host has declared to stay what it is (dl/constants.h), and what was made of it:
// weights in the layout that an operation is fastest with.
#ifndef DL_CPU_LIBRARY_CONSTANTS_H_
#define DL_CPU_LIBRARY_CONSTANTS_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "library/onednn.h"

namespace dl::cpu::constants {

// Whether this thread's calls use constants: others do not wait for a lock.
inline thread_local bool in_use = false;

void declare(const void* memory, uint64_t bytes);
// False where this very range was not declared.
bool forget(const void* memory, uint64_t bytes);

// Whether the calling thread may take the memory as constant.
bool contains(const void* memory);

// Bytes that were made of constant memory; whoever runs with them holds them.
struct Kept {
  explicit Kept(uint64_t size);
  ~Kept();
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  void* data;
  uint64_t bytes;
};

// What the operation of `key` has made of `memory`, its argument; the first time `make` does, which
// returns false if it cannot. Null where it cannot, where the memory is not constant for this
// thread, or none is left to keep it in.
std::shared_ptr<const Kept> kept(const onednn::Key& key, onednn::Argument argument,
                                 const void* memory, uint64_t bytes,
                                 const std::function<bool(void*)>& make);

struct Statistics {
  uint64_t ranges, bytes, kept, kept_bytes;
};
Statistics statistics();

}  // namespace dl::cpu::constants

#endif  // DL_CPU_LIBRARY_CONSTANTS_H_
