#pragma once

#include <array>
#include <memory>
#include <vector>

#include "../memory/region.h"
#include "warp.h"

namespace sim {

constexpr uint32_t kBarriers = 16;

struct Barrier {
  uint32_t arrived = 0;                        // threads
  uint32_t expected = 0;                       // 0: all threads of the block
  uint32_t true_threads = 0, any_threads = 0;  // counts of a reduction
  uint32_t warps = 0;                          // participating warps, for their clocks
  const Instruction* last = nullptr;
};

/** Running block: its warps, shared memory and barriers. */
struct Block {
  Launch& launch;
  uint32_t serial;  // index in the grid
  std::array<uint32_t, 3> id;
  std::unique_ptr<OwnedRegion> fixed, dynamic;  // shared memory
  std::vector<std::unique_ptr<Warp>> warps;
  std::array<Barrier, kBarriers> barriers;
  Clocks known;         // clocks seen of other blocks
  uint32_t exited = 0;  // threads
  uint64_t idle_slices = 0;

  Block(Launch& launch, uint32_t serial, std::array<uint32_t, 3> id);

  bool ended() const;
  /** Threads arrive at a barrier. Returns true if it is complete, so that all threads continue. */
  bool arrive(uint32_t number, uint32_t threads, uint32_t expected, Warp& warp);
  /** Complete the barriers that waited only for threads that have ended. */
  void settle();
  uint32_t threads_alive() const;

 private:
  bool complete(uint32_t number);
  void report_divergence(uint32_t number);
};

}  // namespace sim
