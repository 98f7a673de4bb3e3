#include "launch.h"

#include <algorithm>
#include <numeric>

namespace sim {
namespace {

// Default limit of warp instructions, after which a kernel counts as endless.
constexpr uint64_t kBudget = uint64_t{1} << 32;
// Maximum number of instructions of a warp before the next warp's turn.
constexpr uint64_t kSlice = 4096;
// A block that has waited this many turns may wait for a block that has not begun.
constexpr uint64_t kPatience = 4;
// Number of warp turns after which other launches may run.
constexpr uint64_t kTurns = 64;

}  // namespace

Launch::Launch(std::shared_ptr<const Image> image, DeviceMemory& memory, Findings& findings,
               const Config& config, std::vector<uint8_t> params)
    : image_(std::move(image)),
      memory_(memory),
      findings_(findings),
      config_(config),
      params_(std::move(params)),
      random_(config.seed) {
  if (config_.budget == 0) config_.budget = kBudget;
  params_.resize(std::max<size_t>(params_.size(), image_->kernel().param_bytes));
}

Outcome Launch::run(const std::function<void()>& pause) {
  const uint64_t count = uint64_t{config_.grid[0]} * config_.grid[1] * config_.grid[2];
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), uint64_t{0});
  std::shuffle(order_.begin(), order_.end(), random_);
  if (config_.cooperative) {
    workspace_ = memory_.allocate_workspace();
    while (next_block_ < order_.size()) admit();
  }
  uint64_t turns = 0;
  std::vector<Warp*> ready;
  while (!stopped_) {
    if (blocks_.empty()) {
      if (next_block_ == order_.size()) break;
      admit();
    }
    ready.clear();
    for (const auto& block : blocks_)
      for (const auto& warp : block->warps)
        if (warp->runnable()) ready.push_back(warp.get());
    if (ready.empty()) {
      report_deadlock();
      break;
    }
    Warp& warp = *ready[random_() % ready.size()];
    Block& block = warp.block;
    warp.run(1 + random_() % kSlice);
    if (instructions > config_.budget && !stopped_) {
      report(Fault::kTimeout, warp, 0, warp.code().body[static_cast<size_t>(warp.groups[0].at)], 0,
             [] { return std::string("the kernel does not end"); });
      fail(Outcome::kTimeout, true);
    }
    if (block.ended()) {
      blocks_.erase(std::find_if(blocks_.begin(), blocks_.end(),
                                 [&](const auto& each) { return each.get() == &block; }));
    } else if (++block.idle_slices > kPatience * block.warps.size()) {
      block.idle_slices = 0;
      if (next_block_ < order_.size()) admit();
      if (pause) pause();
    }
    // Pause regularly even if blocks end or meet at barriers, so that other launches can run.
    if (++turns % kTurns == 0 && pause) pause();
  }
  if (workspace_ != 0) memory_.free(workspace_);
  return outcome_;
}

void Launch::admit() {
  const uint64_t serial = order_[next_block_++];
  const Size3 id = {static_cast<uint32_t>(serial % config_.grid[0]),
                    static_cast<uint32_t>(serial / config_.grid[0] % config_.grid[1]),
                    static_cast<uint32_t>(serial / config_.grid[0] / config_.grid[1])};
  blocks_.push_back(std::make_unique<Block>(*this, static_cast<uint32_t>(serial), id));
}

void Launch::begin_segment(Warp& warp, uint32_t lanes, bool together) {
  const uint32_t parent = warp.segment[static_cast<size_t>(__builtin_ctz(lanes))];
  const uint32_t number = segments_.add(
      {warp.block.serial, warp.index, warp.clocks[warp.index], parent, together ? lanes : 0});
  each_lane(lanes, [&](int lane) { warp.segment[static_cast<size_t>(lane)] = number; });
}

std::string Launch::source_of(const Instruction& instruction) const {
  if (instruction.source < 0) return {};
  const Module& module = *image_->module;
  const SourceLine& line = module.sources[static_cast<size_t>(instruction.source)];
  const auto named = [&](int file, int number) {
    const auto found = module.files.find(file);
    return (found == module.files.end() ? "file " + std::to_string(file) : found->second) + ":" +
           std::to_string(number);
  };
  std::string said = named(line.file, line.line);
  if (line.outer_line != 0) said += ", inlined at " + named(line.outer_file, line.outer_line);
  return said;
}

void Launch::report(Fault fault, const Warp& warp, uint32_t lane, const Instruction& instruction,
                    uint64_t address, const std::function<std::string()>& message,
                    uint64_t detail) {
  Finding* made =
      findings_.add(fault, std::string(image_->kernel().routine->name), instruction.line, detail);
  if (made == nullptr) return;
  made->who = warp.thread(lane);
  made->address = address;
  made->message = message();
  made->source = source_of(instruction);
}

void Launch::report_lanes(Fault fault, const Warp& warp, uint32_t mask,
                          const Instruction& instruction, uint64_t address,
                          const std::function<std::string()>& message) {
  each_lane(mask, [&](int lane) {
    report(fault, warp, static_cast<uint32_t>(lane), instruction, address, message);
  });
}

void Launch::fail(Outcome outcome, bool stop) {
  if (outcome_ == Outcome::kDone) outcome_ = outcome;
  stopped_ |= stop;
}

void Launch::report_deadlock() {
  for (const auto& block : blocks_) {
    for (const auto& warp : block->warps) {
      for (const Group& group : warp->groups) {
        if (group.mask == 0) continue;
        const Instruction& waits = group.frame->code->body[static_cast<size_t>(group.at)];
        const auto lane = static_cast<uint32_t>(__builtin_ctz(group.mask));
        report(Fault::kDeadlock, *warp, lane, waits, 0, [&] {
          if (group.wait == Wait::kBarrier) {
            const Barrier& barrier = block->barriers[group.barrier];
            const uint32_t wanted =
                barrier.expected != 0 ? barrier.expected : block->threads_alive();
            return "barrier " + std::to_string(group.barrier) +
                   " waits forever: " + std::to_string(barrier.arrived) + " of " +
                   std::to_string(wanted) + " threads came";
          }
          char lanes[64];
          std::snprintf(lanes, sizeof lanes, "lanes 0x%08x, came 0x%08x", group.member, group.mask);
          return "a warp-level operation waits forever for other lanes: its mask has " +
                 std::string(lanes);
        });
      }
    }
  }
  fail(Outcome::kTimeout, true);
}

}  // namespace sim
