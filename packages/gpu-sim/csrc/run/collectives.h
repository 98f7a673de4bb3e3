#pragma once

#include "warp.h"

namespace sim {

/** Reduction of predicates by a barrier of the block, in Instruction::choice. */
enum : uint8_t { kCountTrue = 0, kAllTrue = 1, kAnyTrue = 2, kNegatedInput = 4 };

/** One of the groups that meet at a warp-level operation, possibly from different branches. */
struct Arrival {
  Group* group;
  const Instruction* instruction;
};

/** Collect the values of an operand, each lane's from its own group. */
template <class T>
void gather(Warp& warp, const std::vector<Arrival>& arrivals, uint32_t Instruction::* operand,
            T* into) {
  for (const Arrival& each : arrivals) {
    warp.use(*each.group);
    const T* from = at<T>(warp, each.instruction->*operand);
    each_lane(each.group->mask, [&](int lane) { into[lane] = from[lane]; });
  }
}

/** Write each lane's value. */
template <class T>
void spread(Warp& warp, const std::vector<Arrival>& arrivals, uint32_t Instruction::* operand,
            const T* from) {
  for (const Arrival& each : arrivals) {
    if (each.instruction->*operand == kNoPlace) continue;
    warp.use(*each.group);
    T* into = at<T>(warp, each.instruction->*operand);
    each_lane(each.group->mask, [&](int lane) { into[lane] = from[lane]; });
  }
}

/** Return the lanes whose predicate is true. */
uint32_t gather_bits(Warp& warp, const std::vector<Arrival>& arrivals,
                     uint32_t Instruction::* operand);
void spread_bits(Warp& warp, const std::vector<Arrival>& arrivals, uint32_t Instruction::* operand,
                 uint32_t bits);

}  // namespace sim
