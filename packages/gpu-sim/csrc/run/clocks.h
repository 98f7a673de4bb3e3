#pragma once

#include <cstdint>
#include <unordered_map>

namespace sim {

/** Vector clock (Fidge, Mattern 1988): for each warp, the time up to which its work is seen. */
using Clocks = std::unordered_map<uint64_t, uint32_t>;

inline uint64_t clock_key(uint32_t block, uint32_t warp) { return uint64_t{block} << 5 | warp; }

inline void join(Clocks& into, const Clocks& from) {
  for (const auto& [key, time] : from) {
    uint32_t& known = into[key];
    if (known < time) known = time;
  }
}

/** Segment: part of a warp's run between two synchronisations; its lanes are unordered in it. */
struct Segment {
  uint32_t block;   // index in the launch
  uint32_t warp;    // index in its block
  uint32_t clock;   // clock of its warp
  uint32_t parent;  // previous segment of the lanes, or 0
  uint32_t mask;    // lanes that began it together
};

}  // namespace sim
