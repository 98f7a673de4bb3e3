// A block between guard bands, as the memory checker sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "memory/stack_text.h"

namespace dl::core {

// Bytes before and after each block: as wide as what device memory has to be aligned to.
inline constexpr size_t kGuardBytes = 512;

struct GuardedBlock {
  char* whole;  // of the vendor: a guard, the block, a guard
  size_t bytes;
  int device;
  int64_t stream;
  uint64_t number;  // in the order of allocation
  Stack allocated;
  Stack freed;

  char* memory() const { return whole + kGuardBytes; }
  size_t whole_bytes() const { return bytes + 2 * kGuardBytes; }
};

// Guards and an initial pattern (which reads as NaN), in the order of the current stream.
void paint_new(const GuardedBlock& block);
// The pattern of what is freed.
void paint_freed(const GuardedBlock& block);

// The first changed byte, relative to the block's begin. The device is idle.
std::optional<int64_t> changed_guard(const GuardedBlock& block);
std::optional<int64_t> changed_after_free(const GuardedBlock& block);
// Repairs the guards, so that the same damage is told once.
void repaint_guards(const GuardedBlock& block);

// "block 7 of 40 bytes at 0x... on dl:0"
std::string describe(const GuardedBlock& block);

}  // namespace dl::core
