#pragma once

#include <cstdint>
#include <unordered_map>

namespace sim {

/** Vector clock of a launch (Lamport 1978): for each warp, the time up to which all is seen. */
using Clocks = std::unordered_map<uint64_t, uint32_t>;

inline uint64_t clock_key(uint32_t block, uint32_t warp) { return uint64_t{block} << 5 | warp; }

inline void join(Clocks& into, const Clocks& from) {
  for (const auto& [key, time] : from) {
    uint32_t& known = into[key];
    if (known < time) known = time;
  }
}

/** A stretch of a warp's run between two synchronisations, in which its lanes have no order. */
struct Segment {
  uint32_t block;   // serial number in the launch
  uint32_t warp;    // in its block
  uint32_t clock;   // of its warp
  uint32_t parent;  // the lane's segment before, or 0
  uint32_t mask;    // lanes that began it together
};

}  // namespace sim
