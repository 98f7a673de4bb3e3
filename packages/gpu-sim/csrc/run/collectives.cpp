#include "collectives.h"

#include "launch.h"

namespace sim {

uint32_t gather_bits(Warp& warp, const std::vector<Arrival>& arrivals,
                     uint32_t Instruction::* operand) {
  uint32_t bits = 0;
  for (const Arrival& each : arrivals) {
    warp.use(*each.group);
    bits |= *at<uint32_t>(warp, each.instruction->*operand) & each.group->mask;
  }
  return bits;
}

void spread_bits(Warp& warp, const std::vector<Arrival>& arrivals, uint32_t Instruction::* operand,
                 uint32_t bits) {
  for (const Arrival& each : arrivals) {
    if (each.instruction->*operand == kNoPlace) continue;
    warp.use(*each.group);
    uint32_t* into = at<uint32_t>(warp, each.instruction->*operand);
    *into = (*into & ~each.group->mask) | (bits & each.group->mask);
  }
}

// Instruction::e is the mask of participating lanes; without it, the arriving lanes participate.
void Warp::collective(const Instruction& here, uint32_t mask) {
  if (mask != group->mask) split(group->mask & ~mask, group->at + 1);
  if (here.e == kNoPlace) {
    group->member = group->mask;
  } else {
    const uint32_t* members = at<uint32_t>(*this, here.e);
    const auto lane = static_cast<uint32_t>(__builtin_ctz(group->mask));
    const uint32_t member = members[lane];
    uint32_t same = 0;
    each_lane(group->mask, [&](int each) { same |= uint32_t{members[each] == member} << each; });
    if (same != group->mask) split(group->mask & ~same, group->at);
    group->member = member;
    if ((group->mask & ~member) != 0) {
      launch.report_lanes(Fault::kInvalid, *this, group->mask & ~member, here, 0, [&] {
        return std::string("a lane executes a warp-level operation whose mask excludes it");
      });
      launch.fail(Outcome::kIllegalInstruction, true);
      return;
    }
  }
  group->wait = Wait::kCollective;
  settle_collectives();
}

void Warp::settle_collectives() {
  const auto self = static_cast<size_t>(group - groups.data());
  bool again = true;
  while (again) {
    again = false;
    for (Group& first : groups) {
      if (first.wait != Wait::kCollective || first.mask == 0) continue;
      const Instruction& what = first.frame->code->body[static_cast<size_t>(first.at)];
      std::vector<Arrival> arrivals;
      uint32_t came = 0;
      for (Group& each : groups) {
        if (each.wait != Wait::kCollective || each.mask == 0 || each.member != first.member)
          continue;
        const Instruction& other = each.frame->code->body[static_cast<size_t>(each.at)];
        if (other.together != what.together || other.choice != what.choice ||
            other.bytes != what.bytes || other.sign != what.sign)
          continue;
        arrivals.push_back({&each, &other});
        came |= each.mask;
      }
      if ((first.member & alive & ~came) != 0) continue;
      what.together(*this, arrivals, came);
      for (const Arrival& each : arrivals) {
        each.group->wait = Wait::kNone;
        ++each.group->at;
      }
      changed_ = changed_ || arrivals.size() > 1 || arrivals[0].group != &groups[self];
      again = true;
      break;
    }
  }
  if (groups[self].wait != Wait::kNone) changed_ = true;
  use(groups[self]);
}

}  // namespace sim
