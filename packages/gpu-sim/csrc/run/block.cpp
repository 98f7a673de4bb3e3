#include "block.h"

#include <algorithm>
#include <set>

#include "launch.h"

namespace sim {
namespace {

uint32_t threads_of(const Size3& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

}  // namespace

Block::Block(Launch& of, uint32_t number, std::array<uint32_t, 3> where)
    : launch(of), serial(number), id(where) {
  const Image& image = launch.image();
  fixed = std::make_unique<OwnedRegion>(0, image.shared_extent, Region::What::kShared);
  dynamic = std::make_unique<OwnedRegion>(kDynamicShared, launch.config().dynamic_shared,
                                          Region::What::kShared);
  const uint32_t count = (threads_of(launch.config().block) + kLanes - 1) / kLanes;
  for (uint32_t i = 0; i < count; ++i) warps.push_back(std::make_unique<Warp>(*this, launch, i));
}

bool Block::ended() const {
  return std::all_of(warps.begin(), warps.end(), [](const auto& each) { return each->ended(); });
}

uint32_t Block::threads_alive() const {
  uint32_t count = 0;
  for (const auto& each : warps) count += static_cast<uint32_t>(__builtin_popcount(each->alive));
  return count;
}

bool Block::arrive(uint32_t number, uint32_t threads, uint32_t expected, Warp& warp) {
  Barrier& barrier = barriers[number];
  barrier.arrived += threads;
  barrier.expected = expected;
  barrier.warps |= uint32_t{1} << warp.index;
  return complete(number);
}

void Block::settle() {
  for (uint32_t i = 0; i < kBarriers; ++i)
    if (barriers[i].warps != 0) complete(i);
}

bool Block::complete(uint32_t number) {
  Barrier& barrier = barriers[number];
  const uint32_t wanted = barrier.expected != 0 ? barrier.expected : threads_alive();
  if (barrier.arrived == 0 || barrier.arrived < wanted) return false;
  if (barrier.expected == 0) report_divergence(number);
  // All threads at the barrier have now seen what the others had done.
  std::array<uint32_t, kLanes> joined{};
  for (const auto& warp : warps) {
    if ((barrier.warps >> warp->index & 1) == 0) continue;
    for (size_t i = 0; i < kLanes; ++i) joined[i] = std::max(joined[i], warp->clocks[i]);
  }
  for (const auto& warp : warps) {
    if ((barrier.warps >> warp->index & 1) == 0) continue;
    warp->clocks = joined;
    ++warp->clocks[warp->index];
    if (warp->alive != 0) launch.begin_segment(*warp, warp->alive);
    warp->release_barrier(number);
  }
  barrier = Barrier{};
  idle_slices = 0;
  return true;
}

void Block::report_divergence(uint32_t number) {
  const Group* first = nullptr;
  for (const auto& warp : warps) {
    for (const Group& group : warp->groups) {
      if (group.wait != Wait::kBarrier || group.barrier != number || group.mask == 0) continue;
      const Instruction& here = group.frame->code->body[static_cast<size_t>(group.at)];
      const auto lane = static_cast<uint32_t>(__builtin_ctz(group.mask));
      if (first == nullptr) {
        first = &group;
        if (exited != 0 && here.sign)
          launch.report(Fault::kDivergentBarrier, *warp, lane, here, number, [&] {
            return "barrier " + std::to_string(number) + " is reached by " +
                   std::to_string(threads_alive()) + " threads, while " + std::to_string(exited) +
                   " threads of the block have ended";
          });
      } else if (here.sign && (group.at != first->at || group.frame->code != first->frame->code)) {
        launch.report(Fault::kDivergentBarrier, *warp, lane, here, number, [&] {
          const Instruction& there = first->frame->code->body[static_cast<size_t>(first->at)];
          const std::string source = launch.source_of(there);
          return "threads of the block reach barrier " + std::to_string(number) +
                 " at another place: PTX line " + std::to_string(there.line) +
                 (source.empty() ? "" : ", " + source);
        });
      }
    }
  }
}

}  // namespace sim
