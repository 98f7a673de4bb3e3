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
  uint32_t expected = 0;                       // 0: all of the block
  uint32_t true_threads = 0, any_threads = 0;  // of a reduction
  uint32_t warps = 0;                          // that take part, for their clocks
  const Instruction* last = nullptr;
};

/** A block that runs: its warps, shared memory, barriers. */
struct Block {
  Launch& launch;
  uint32_t serial;  // in the grid
  std::array<uint32_t, 3> id;
  std::unique_ptr<OwnedRegion> fixed, dynamic;  // shared memory
  std::vector<std::unique_ptr<Warp>> warps;
  std::array<Barrier, kBarriers> barriers;
  Clocks known;         // of other blocks
  uint32_t exited = 0;  // threads
  uint64_t idle_slices = 0;

  Block(Launch& launch, uint32_t serial, std::array<uint32_t, 3> id);

  bool ended() const;
  /** Threads come to a barrier. True: it is complete, and all who waited go on. */
  bool arrive(uint32_t number, uint32_t threads, uint32_t expected, Warp& warp);
  /** Complete what waits for threads that have ended. */
  void settle();
  uint32_t threads_alive() const;

 private:
  bool complete(uint32_t number);
  void report_divergence(uint32_t number);
};

}  // namespace sim
