// A block between guard bands, for the memory checker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "memory/stack_text.h"

namespace dl::core {

// Bytes before and after each block: the alignment required for device memory.
inline constexpr size_t kGuardBytes = 512;

struct GuardedBlock {
  char* whole;  // the vendor's allocation: guard, block, padding, guard
  size_t bytes;
  size_t padding;  // bytes behind the block that operators may read
  int device;
  int64_t stream;
  uint64_t number;  // in order of allocation
  Stack allocated;
  Stack freed;

  char* memory() const { return whole + kGuardBytes; }
  char* guard_after() const { return memory() + bytes + padding; }
  size_t whole_bytes() const { return bytes + padding + 2 * kGuardBytes; }
};

// Writes guards and an initial pattern (which reads as NaN), in the order of the current stream.
void paint_new(const GuardedBlock& block);
// Fills a freed block with a pattern.
void paint_freed(const GuardedBlock& block);

// Returns the first changed byte, relative to the start of the block. The device must be idle.
std::optional<int64_t> changed_guard(const GuardedBlock& block);
std::optional<int64_t> changed_after_free(const GuardedBlock& block);
// Restores the guards, so that a violation is reported once.
void repaint_guards(const GuardedBlock& block);

// "block 7 of 40 bytes at 0x... on dl:0"
std::string describe(const GuardedBlock& block);

}  // namespace dl::core
