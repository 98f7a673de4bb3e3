#pragma once

#include "launch.h"

namespace sim {

enum class Purpose : uint8_t { kRead, kWrite, kReadWrite };

/**
 * Check and record an access of a lane to `bytes` bytes, and return the host memory of the address.
 *
 * Returns null and reports a finding if the access is invalid. `fresh` are the bytes that will be
 * written; null if they are not known yet (atomics).
 */
uint8_t* reach(Warp& warp, const Instruction& instruction, uint32_t lane, Space space,
               uint64_t address, uint32_t bytes, Purpose purpose, const uint8_t* fresh = nullptr);

/** Return the address of an instruction's memory operand. */
inline uint64_t address_of(const Warp& warp, const Instruction& instruction, int lane) {
  const uint64_t base = instruction.a_bytes == 4 ? at<uint32_t>(warp, instruction.a)[lane]
                                                 : at<uint64_t>(warp, instruction.a)[lane];
  const uint64_t sum = base + static_cast<uint64_t>(instruction.plus);
  return instruction.a_bytes == 4 ? static_cast<uint32_t>(sum) : sum;
}

/**
 * Fence: the warp's next strong writes release everything that it has done and seen, and the clocks
 * that its relaxed reads have met are acquired; only within its own block for a block scope.
 */
void fence(Warp& warp, uint32_t mask, bool own_block);

}  // namespace sim
