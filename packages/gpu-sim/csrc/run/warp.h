#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "../code/code.h"
#include "../report/finding.h"
#include "clocks.h"

namespace sim {

struct Block;
class Launch;

/** Call frame: its registers and return address. */
struct Frame {
  const Code* code = nullptr;
  Frame* caller = nullptr;
  int back = 0;  // return address in the caller
  int depth = 0;
  uint32_t live = 0;  // lanes that have not returned
  std::vector<uint64_t> registers;
  std::vector<uint8_t> params;  // lane by lane
};

enum class Wait : uint8_t { kNone, kBarrier, kCollective };

/** Lanes of a warp at the same instruction of the same call. */
struct Group {
  Frame* frame = nullptr;
  int at = 0;
  uint32_t mask = 0;
  Wait wait = Wait::kNone;
  uint32_t member = 0;   // participating lanes of a collective operation
  uint32_t barrier = 0;  // index of the barrier at which it waits
};

/** Pending cp.async. Its age is the number of groups committed since. */
struct PendingCopy {
  uint64_t address;
  uint32_t bytes, age;
};

/** 32 threads; those at the same instruction execute together. */
struct Warp {
  Block& block;
  Launch& launch;
  uint32_t index;
  uint32_t alive;
  uint8_t* base[3] = {};   // by kind of location: frame, constants, warp
  Group* group = nullptr;  // the running group
  std::vector<Group> groups;
  std::vector<uint64_t> specials;
  std::vector<uint8_t> local, local_valid;  // lane by lane
  std::array<uint32_t, kLanes> segment{};   // by lane: see clocks.h
  std::array<uint32_t, kLanes> clocks{};    // clocks seen of the block's warps
  // Clocks that a later strong write releases, to the device and to the block.
  std::shared_ptr<const Clocks> fenced, fenced_in_block;
  Clocks met;  // clocks met by relaxed reads since the last fence
  std::vector<std::unique_ptr<Frame>> frames, spare;
  std::array<std::vector<PendingCopy>, kLanes> pending;  // of each lane
  uint32_t carry = 0;                                    // of each lane

  Warp(Block& block, Launch& launch, uint32_t index);

  /** Run until all lanes wait or have ended, or for about this many instructions. */
  void run(uint64_t instructions);
  bool ended() const { return alive == 0; }
  bool runnable() const;
  const Code& code() const { return *group->frame->code; }
  /** Return a lane's local memory at a local address. */
  uint8_t* params_of(uint32_t lane) {
    return group->frame->params.data() + size_t{group->frame->code->param_bytes} * lane;
  }
  /** End the threads of `mask`. */
  void exit(uint32_t mask);
  void release_barrier(uint32_t barrier);
  Thread thread(uint32_t lane) const;
  void use(Group& chosen);

 private:
  void fill_specials();
  Group* choose(bool fair);
  void step_control(const Instruction& instruction, uint32_t mask);
  void branch(const Instruction& instruction, uint32_t mask, int target);
  void branch_table(const Instruction& instruction, uint32_t mask);
  void call(const Instruction& instruction, uint32_t mask);
  void enter(const Instruction& instruction, uint32_t mask, int routine);
  void give_back(uint32_t mask);
  void barrier(const Instruction& instruction, uint32_t mask);
  void collective(const Instruction& instruction, uint32_t mask);
  void settle_collectives();
  Group& split(uint32_t mask, int at);
  void merge();
  int meeting_point() const;
  Frame* new_frame(const Code& code);

  bool changed_ = false;   // the groups have changed
  uint64_t patience_ = 0;  // instructions since a group other than the first had its turn
};

/** Return the values at a location. */
template <class T>
T* at(const Warp& warp, uint32_t place) {
  return reinterpret_cast<T*>(warp.base[place & kPlaceBits] + (place & ~kPlaceBits));
}

template <class F>
inline void each_lane(uint32_t mask, F f) {
  if (mask == kEveryLane) {
    for (int lane = 0; lane < kLanes; ++lane) f(lane);
  } else {
    for (; mask != 0; mask &= mask - 1) f(__builtin_ctz(mask));
  }
}

/** Return one value, whose register has `bytes` bytes per lane. */
template <class T>
T value_at(const Warp& warp, uint32_t place, unsigned bytes, int lane) {
  T value;
  __builtin_memcpy(&value, at<uint8_t>(warp, place) + bytes * static_cast<unsigned>(lane),
                   sizeof value);
  return value;
}

}  // namespace sim
