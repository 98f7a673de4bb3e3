// Control flow of lanes: branches, calls, barriers.

#include <algorithm>

#include "collectives.h"
#include "launch.h"

namespace sim {
namespace {

// Maximum call depth, larger than any device's stack allows.
constexpr int kMostDepth = 1000;

}  // namespace

void Warp::step_control(const Instruction& here, uint32_t mask) {
  if (mask == 0) {
    ++group->at;
    return;
  }
  switch (here.flow) {
    case Flow::kBranch:
      branch(here, mask, here.target);
      break;
    case Flow::kBranchTable:
      branch_table(here, mask);
      break;
    case Flow::kCall:
      call(here, mask);
      break;
    case Flow::kReturn:
      if (mask != group->mask) split(group->mask & ~mask, group->at + 1);
      give_back(mask);
      break;
    case Flow::kExit:
      if (mask != group->mask) split(group->mask & ~mask, group->at + 1);
      exit(mask);
      break;
    case Flow::kBarrier:
      barrier(here, mask);
      break;
    case Flow::kCollective:
      collective(here, mask);
      break;
    default: {
      const std::string& why = code().extras[static_cast<size_t>(here.extra)].text;
      launch.report_lanes(Fault::kUnsupported, *this, mask, here, 0, [&] {
        return "the simulator does not support the instruction at " + why;
      });
      launch.fail(Outcome::kIllegalInstruction, true);
    }
  }
}

/** Remove lanes from the running group. */
Group& Warp::split(uint32_t mask, int place) {
  const auto self = static_cast<size_t>(group - groups.data());
  Group made = *group;
  made.mask = mask;
  made.at = place;
  made.wait = Wait::kNone;
  groups.push_back(made);
  group = &groups[self];
  group->mask &= ~mask;
  changed_ = true;
  return groups.back();
}

void Warp::branch(const Instruction&, uint32_t mask, int target) {
  if (mask != group->mask) split(group->mask & ~mask, group->at + 1);
  group->at = target;
}

void Warp::branch_table(const Instruction& here, uint32_t mask) {
  if (mask != group->mask) split(group->mask & ~mask, group->at + 1);
  const Extra& table = code().extras[static_cast<size_t>(here.extra)];
  const uint32_t* choices = at<uint32_t>(*this, here.a);
  uint32_t left = group->mask;
  while (left != 0) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    const uint32_t choice = choices[lane];
    uint32_t same = 0;
    each_lane(left, [&](int each) { same |= uint32_t{choices[each] == choice} << each; });
    left &= ~same;
    if (choice >= table.targets.size()) {
      launch.report_lanes(Fault::kInvalid, *this, same, here, 0, [&] {
        return "brx.idx chooses label " + std::to_string(choice) + " of " +
               std::to_string(table.targets.size());
      });
      launch.fail(Outcome::kIllegalInstruction, true);
      return;
    }
    const int target = table.targets[choice];
    if (left == 0) {
      group->at = target;
    } else {
      split(same, target);
    }
  }
}

void Warp::call(const Instruction& here, uint32_t mask) {
  if (mask != group->mask) split(group->mask & ~mask, group->at + 1);
  int routine = here.target;
  if (routine < 0) {
    const uint64_t* addresses = at<uint64_t>(*this, here.a);
    const auto lane = static_cast<uint32_t>(__builtin_ctz(group->mask));
    const uint64_t address = addresses[lane];
    uint32_t same = 0;
    each_lane(group->mask, [&](int each) { same |= uint32_t{addresses[each] == address} << each; });
    if (same != group->mask) split(group->mask & ~same, group->at);
    const auto& codes = launch.image().codes;
    if (address - kFunctionWindow >= launch.image().module->routines.size() ||
        codes.count(static_cast<int>(address - kFunctionWindow)) == 0) {
      launch.report_lanes(Fault::kInvalid, *this, same, here, address,
                          [] { return std::string("a call through an invalid function pointer"); });
      launch.fail(Outcome::kIllegalAddress, true);
      return;
    }
    routine = static_cast<int>(address - kFunctionWindow);
  }
  enter(here, group->mask, routine);
}

void Warp::enter(const Instruction& here, uint32_t mask, int routine) {
  const Code& callee = *launch.image().codes.at(routine);
  const Extra& call = code().extras[static_cast<size_t>(here.extra)];
  const auto invalid = [&](const std::string& why) {
    launch.report_lanes(Fault::kInvalid, *this, mask, here, 0, [&] {
      return "call of '" + std::string(callee.routine->name) + "': " + why;
    });
    launch.fail(Outcome::kFailed, true);
  };
  if (!callee.routine->defined) return invalid("the function is declared, but not defined");
  const size_t arguments = callee.parameters.size();
  const size_t results = callee.results.size();
  if (call.places.size() != arguments || call.more.size() != results)
    return invalid("the function has other parameters than the call");
  Frame* caller = group->frame;
  if (caller->depth >= kMostDepth) return invalid("calls are nested too deeply");
  for (const Frame* each = caller; each != nullptr && callee.has_local; each = each->caller)
    if (each->code == &callee) {
      launch.report_lanes(Fault::kUnsupported, *this, mask, here, 0, [&] {
        return "the simulator does not support recursion in a function with local variables: '" +
               std::string(callee.routine->name) + "'";
      });
      launch.fail(Outcome::kIllegalInstruction, true);
      return;
    }
  Frame* made = new_frame(callee);
  made->caller = caller;
  made->depth = caller->depth + 1;
  made->back = group->at + 1;
  made->live = mask;
  const auto fits = [&](size_t place, uint32_t bytes) {
    return place + bytes <= caller->code->param_bytes;
  };
  for (size_t i = 0; i < arguments; ++i) {
    const auto [offset, bytes] = callee.parameters[i];
    if (!fits(call.places[i], bytes)) return invalid("an argument is too small");
    for (size_t each = 0; each < kLanes; ++each)
      std::copy_n(&caller->params[caller->code->param_bytes * each + call.places[i]], bytes,
                  &made->params[callee.param_bytes * each + offset]);
  }
  for (size_t i = 0; i < results; ++i)
    if (!fits(call.more[i], callee.results[i].second)) return invalid("the result is too small");
  group->frame = made;
  group->at = 0;
  changed_ = true;
}

void Warp::give_back(uint32_t mask) {
  Frame* frame = group->frame;
  if (frame->caller == nullptr) {
    exit(mask);
    return;
  }
  Frame* caller = frame->caller;
  const Code& callee = *frame->code;
  const Instruction& from = caller->code->body[static_cast<size_t>(frame->back - 1)];
  const Extra& call = caller->code->extras[static_cast<size_t>(from.extra)];
  for (size_t i = 0; i < callee.results.size(); ++i) {
    const auto [offset, bytes] = callee.results[i];
    each_lane(mask, [&, offset = offset, bytes = bytes](int lane) {
      std::copy_n(&frame->params[size_t{callee.param_bytes} * static_cast<size_t>(lane) + offset],
                  bytes,
                  &caller->params[size_t{caller->code->param_bytes} * static_cast<size_t>(lane) +
                                  call.more[i]]);
    });
  }
  group->frame = caller;
  group->at = frame->back;
  changed_ = true;
  frame->live &= ~mask;
  if (frame->live != 0) return;
  const auto found = std::find_if(frames.begin(), frames.end(),
                                  [&](const auto& each) { return each.get() == frame; });
  spare.push_back(std::move(*found));
  frames.erase(found);
}

void Warp::exit(uint32_t mask) {
  alive &= ~mask;
  group->mask &= ~mask;
  for (Frame* each = group->frame; each != nullptr; each = each->caller) each->live &= ~mask;
  changed_ = true;
  block.exited += static_cast<uint32_t>(__builtin_popcount(mask));
  block.settle();
  settle_collectives();
}

void Warp::barrier(const Instruction& here, uint32_t mask) {
  if (mask != group->mask) split(group->mask & ~mask, group->at + 1);
  const auto lane = static_cast<uint32_t>(__builtin_ctz(mask));
  const uint32_t number = at<uint32_t>(*this, here.a)[lane];
  uint32_t expected = here.b == kNoPlace ? 0 : at<uint32_t>(*this, here.b)[lane];
  const auto whole = static_cast<uint32_t>(launch.config().block[0] * launch.config().block[1] *
                                           launch.config().block[2]);
  if (number >= kBarriers || expected % kLanes != 0 || expected > (whole + 31) / 32 * 32) {
    launch.report_lanes(Fault::kInvalid, *this, mask, here, 0, [&] {
      return "barrier " + std::to_string(number) + " for " + std::to_string(expected) +
             " threads: barriers are 0 to 15, and the count must be a multiple of 32 in the block";
    });
    launch.fail(Outcome::kIllegalInstruction, true);
    return;
  }
  Barrier& state = block.barriers[number];
  if (here.c != kNoPlace) {
    uint32_t bits = *at<uint32_t>(*this, here.c);
    if ((here.choice & kNegatedInput) != 0) bits = ~bits;
    state.true_threads += static_cast<uint32_t>(__builtin_popcount(bits & mask));
  }
  // With a thread count, a warp counts as 32 threads even if its last lanes do not exist.
  const uint32_t threads =
      expected != 0 && mask == alive ? kLanes : static_cast<uint32_t>(__builtin_popcount(mask));
  if (here.acquires) {
    group->wait = Wait::kBarrier;
    group->barrier = number;
  } else {
    ++group->at;
  }
  changed_ = true;
  state.any_threads += static_cast<uint32_t>(__builtin_popcount(mask));
  block.arrive(number, threads, expected, *this);
}

void Warp::release_barrier(uint32_t number) {
  const Barrier& state = block.barriers[number];
  for (Group& each : groups) {
    if (each.wait != Wait::kBarrier || each.barrier != number || each.mask == 0) continue;
    const Instruction& here = each.frame->code->body[static_cast<size_t>(each.at)];
    if (here.d != kNoPlace) {
      Group* before = group;
      use(each);
      const bool every = state.true_threads == state.any_threads;
      const uint32_t kind = here.choice & 3;
      if (kind == kCountTrue) {
        each_lane(each.mask,
                  [&](int lane) { at<uint32_t>(*this, here.d)[lane] = state.true_threads; });
      } else {
        const bool result = kind == kAllTrue ? every : state.true_threads != 0;
        uint32_t* bits = at<uint32_t>(*this, here.d);
        *bits = result ? *bits | each.mask : *bits & ~each.mask;
      }
      if (before != nullptr) use(*before);
    }
    each.wait = Wait::kNone;
    ++each.at;
  }
}

}  // namespace sim
