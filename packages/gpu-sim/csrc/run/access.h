#pragma once

#include "launch.h"

namespace sim {

enum class Purpose : uint8_t { kRead, kWrite, kReadWrite };

/**
 * The memory behind an address of a lane, for so many bytes, of which all is checked and noted.
 *
 * Nothing if the access is wrong, which is then reported. `fresh` are the bytes that will be
 * written; none where they are not known yet (atomics).
 */
uint8_t* reach(Warp& warp, const Instruction& instruction, uint32_t lane, Space space,
               uint64_t address, uint32_t bytes, Purpose purpose, const uint8_t* fresh = nullptr);

/** The address of an instruction's memory operand. */
inline uint64_t address_of(const Warp& warp, const Instruction& instruction, int lane) {
  const uint64_t base = instruction.a_bytes == 4 ? at<uint32_t>(warp, instruction.a)[lane]
                                                 : at<uint64_t>(warp, instruction.a)[lane];
  const uint64_t sum = base + static_cast<uint64_t>(instruction.plus);
  return instruction.a_bytes == 4 ? static_cast<uint32_t>(sum) : sum;
}

/**
 * Everything that a warp has done and seen becomes what its next strong writes tell others, and
 * what its relaxed reads have met becomes seen; of its own block only where the scope is that.
 */
void fence(Warp& warp, uint32_t mask, bool own_block);

}  // namespace sim
