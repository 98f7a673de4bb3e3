#include "warp.h"

#include <algorithm>

#include "../code/specials.h"
#include "launch.h"

namespace sim {
namespace {

constexpr int kFar = INT32_MAX;
// Maximum number of instructions of a group while another group waits for its turn.
constexpr uint64_t kTurn = 2048;

uint32_t threads_of(const Size3& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

}  // namespace

Warp::Warp(Block& of, Launch& in, uint32_t number) : block(of), launch(in), index(number) {
  const uint32_t threads = threads_of(launch.config().block) - index * kLanes;
  alive = threads >= kLanes ? kEveryLane : (uint32_t{1} << threads) - 1;
  specials.resize(static_cast<size_t>(Special::kCount) * kSpecialBytes / 8);
  fill_specials();
  local.resize(size_t{launch.image().local_extent} * kLanes, 0xA5);
  local_valid.resize(local.size());
  clocks[index] = 1;
  launch.begin_segment(*this, alive);
  groups.reserve(8);
  Group first;
  first.frame = new_frame(launch.image().kernel());
  first.frame->live = alive;
  first.mask = alive;
  groups.push_back(first);
}

void Warp::fill_specials() {
  const Config& config = launch.config();
  auto* bytes = reinterpret_cast<uint8_t*>(specials.data());
  const auto set = [&](Special which, auto value_of) {
    uint8_t* place = bytes + static_cast<uint32_t>(which) * kSpecialBytes;
    auto* narrow = reinterpret_cast<uint32_t*>(place);
    auto* wide = reinterpret_cast<uint64_t*>(place + kLanes * 4);
    for (uint32_t lane = 0; lane < kLanes; ++lane) narrow[lane] = wide[lane] = value_of(lane);
  };
  const auto axis = [](Special first, uint32_t i) {
    return static_cast<Special>(static_cast<uint32_t>(first) + i);
  };
  for (uint32_t i = 0; i < 3; ++i) {
    set(axis(Special::kTidX, i), [&](uint32_t lane) { return thread(lane).thread[i]; });
    set(axis(Special::kNtidX, i), [&](uint32_t) { return config.block[i]; });
    set(axis(Special::kCtaidX, i), [&](uint32_t) { return block.id[i]; });
    set(axis(Special::kNctaidX, i), [&](uint32_t) { return config.grid[i]; });
  }
  const uint32_t shared = launch.image().static_shared + config.dynamic_shared;
  set(Special::kLane, [](uint32_t lane) { return lane; });
  set(Special::kWarp, [&](uint32_t) { return index; });
  set(Special::kWarps, [](uint32_t) { return 64u; });
  set(Special::kSm, [&](uint32_t) { return block.serial % 4; });
  set(Special::kSms, [](uint32_t) { return 4u; });
  set(Special::kGrid, [](uint32_t) { return 1u; });
  set(Special::kEqual, [](uint32_t lane) { return 1u << lane; });
  set(Special::kLess, [](uint32_t lane) { return (1u << lane) - 1; });
  set(Special::kLessEqual, [](uint32_t lane) { return (2u << lane) - 1; });
  set(Special::kGreater, [](uint32_t lane) { return ~((2u << lane) - 1); });
  set(Special::kGreaterEqual, [](uint32_t lane) { return ~((1u << lane) - 1); });
  set(Special::kDynamicShared, [&](uint32_t) { return config.dynamic_shared; });
  set(Special::kTotalShared, [&](uint32_t) { return shared; });
  set(Special::kZero, [](uint32_t) { return 0u; });
  set(Special::kOne, [](uint32_t) { return 1u; });
  set(Special::kWorkspaceHigh,
      [&](uint32_t) { return static_cast<uint32_t>(launch.workspace() >> 32); });
  set(Special::kWorkspaceLow, [&](uint32_t) { return static_cast<uint32_t>(launch.workspace()); });
  base[kInWarp] = bytes;
}

Thread Warp::thread(uint32_t lane) const {
  const Size3& sizes = launch.config().block;
  const uint32_t number = index * kLanes + lane;
  return {block.id,
          {number % sizes[0], number / sizes[0] % sizes[1], number / sizes[0] / sizes[1]}};
}

Frame* Warp::new_frame(const Code& code) {
  std::unique_ptr<Frame> made;
  if (spare.empty()) {
    made = std::make_unique<Frame>();
  } else {
    made = std::move(spare.back());
    spare.pop_back();
  }
  made->code = &code;
  made->caller = nullptr;
  made->depth = 0;
  made->registers.assign(code.frame_bytes / 8 + 1, 0);
  // A kernel has the parameters of the launch; a frame's parameters hold the call's arguments.
  made->params.assign(size_t{code.param_bytes} * kLanes, 0);
  frames.push_back(std::move(made));
  return frames.back().get();
}

bool Warp::runnable() const {
  return std::any_of(groups.begin(), groups.end(),
                     [](const Group& each) { return each.mask != 0 && each.wait == Wait::kNone; });
}

void Warp::use(Group& chosen) {
  group = &chosen;
  base[kInFrame] = reinterpret_cast<uint8_t*>(chosen.frame->registers.data());
  base[kInConstants] =
      reinterpret_cast<uint8_t*>(const_cast<uint64_t*>(chosen.frame->code->constants.data()));
}

// Chooses the deepest call, and in it the earliest instruction, so that divergent lanes reconverge.
Group* Warp::choose(bool fair) {
  Group* best = nullptr;
  uint32_t ready = 0;
  for (Group& each : groups) {
    if (each.mask == 0 || each.wait != Wait::kNone) continue;
    ++ready;
    if (best == nullptr || each.frame->depth > best->frame->depth ||
        (each.frame->depth == best->frame->depth && each.at < best->at))
      best = &each;
  }
  if (!fair || ready < 2) return best;
  // Lanes may wait in a loop for other lanes, which must also get turns.
  uint64_t skip = launch.random()() % ready;
  for (Group& each : groups)
    if (each.mask != 0 && each.wait == Wait::kNone && skip-- == 0) return &each;
  return best;
}

void Warp::merge() {
  for (size_t i = 0; i < groups.size(); ++i) {
    Group& one = groups[i];
    for (size_t j = i + 1; j < groups.size() && one.mask != 0; ++j) {
      Group& two = groups[j];
      if (two.mask == 0 || one.frame != two.frame || one.at != two.at || one.wait != Wait::kNone ||
          two.wait != Wait::kNone)
        continue;
      one.mask |= two.mask;
      two.mask = 0;
    }
  }
  groups.erase(std::remove_if(groups.begin(), groups.end(),
                              [](const Group& each) { return each.mask == 0; }),
               groups.end());
}

int Warp::meeting_point() const {
  int nearest = kFar;
  for (const Group& each : groups)
    if (&each != group && each.mask != 0 && each.wait == Wait::kNone &&
        each.frame == group->frame && each.at > group->at)
      nearest = std::min(nearest, each.at);
  return nearest;
}

void Warp::run(uint64_t limit) {
  uint64_t done = 0;
  while (done < limit && !launch.stopped()) {
    merge();
    // The deepest and earliest group may be in a loop that only another group can end.
    const bool fair = patience_ >= kTurn;
    if (fair) patience_ = 0;
    Group* chosen = choose(fair);
    if (chosen == nullptr) break;
    const uint64_t before = done;
    use(*chosen);
    changed_ = false;
    int meeting = meeting_point();
    const Instruction* body = group->frame->code->body.data();
    const uint64_t turn = std::min(limit, done + kTurn);
    while (done < turn) {
      const Instruction& here = body[group->at];
      uint32_t mask = group->mask;
      if (here.guard != kNoPlace) {
        const uint32_t bits = *at<uint32_t>(*this, here.guard);
        mask &= here.guard_negated ? ~bits : bits;
      }
      ++done;
      if (here.flow == Flow::kPlain) {
        if (mask != 0) here.action(*this, here, mask);
        ++group->at;
        if (group->at == meeting) break;
      } else {
        const int from = group->at;
        step_control(here, mask);
        // A group that ended the launch may not have advanced and would repeat its instruction.
        if (launch.stopped()) break;
        if (changed_ || group->at >= meeting || group->at < from) {
          // A backward branch may be a loop in which, or for which, other groups wait.
          if (changed_ || meeting != kFar) break;
        }
      }
    }
    patience_ += done - before;
  }
  launch.instructions += done;
}

}  // namespace sim
