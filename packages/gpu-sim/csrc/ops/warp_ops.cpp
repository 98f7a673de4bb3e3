// Operations across the lanes of a warp: shfl, vote, match, redux, elect.

#include <algorithm>

#include "../run/collectives.h"
#include "../run/launch.h"
#include "table.h"

namespace sim {
namespace {

enum Shuffle : uint8_t { kUp, kDown, kButterfly, kIndex };

void shuffle(Warp& warp, const std::vector<Arrival>& arrivals, uint32_t came) {
  uint32_t values[kLanes] = {}, other[kLanes] = {}, control[kLanes] = {}, results[kLanes] = {};
  gather(warp, arrivals, &Instruction::a, values);
  gather(warp, arrivals, &Instruction::b, other);
  gather(warp, arrivals, &Instruction::c, control);
  uint32_t inside = 0;
  const uint8_t kind = arrivals[0].instruction->choice;
  each_lane(came, [&](int each) {
    const auto lane = static_cast<uint32_t>(each);
    const uint32_t clamp = control[each] & 31, segment = control[each] >> 8 & 31,
                   by = other[each] & 31;
    const uint32_t most = (lane & segment) | (clamp & ~segment), least = lane & segment;
    int64_t from = 0;
    bool valid = false;
    switch (kind) {
      case kUp:
        from = int64_t{lane} - by;
        valid = from >= int64_t{most};
        break;
      case kDown:
        from = lane + by;
        valid = from <= int64_t{most};
        break;
      case kButterfly:
        from = lane ^ by;
        valid = from <= int64_t{most};
        break;
      default:
        from = least | (by & ~segment);
        valid = from <= int64_t{most};
    }
    if (!valid) from = lane;
    // A lane that does not participate has no value.
    if ((came >> from & 1) == 0) {
      const Arrival& arrival =
          *std::find_if(arrivals.begin(), arrivals.end(),
                        [&](const Arrival& one) { return (one.group->mask >> lane & 1) != 0; });
      warp.launch.report(Fault::kInvalid, warp, lane, *arrival.instruction, 0, [&] {
        return "shfl reads lane " + std::to_string(from) + ", which does not participate";
      });
    }
    results[each] = values[from];
    inside |= uint32_t{valid} << lane;
  });
  spread(warp, arrivals, &Instruction::d, results);
  for (const Arrival& each : arrivals) {
    if (each.instruction->extra < 0) continue;
    warp.use(*each.group);
    const uint32_t place =
        warp.code().extras[static_cast<size_t>(each.instruction->extra)].places[0];
    uint32_t* bits = at<uint32_t>(warp, place);
    *bits = (*bits & ~each.group->mask) | (inside & each.group->mask);
  }
}

void shfl(Decoder& decoder) {
  const bool sync = decoder.take("sync");
  const int kind = decoder.take_one_of({"up", "down", "bfly", "idx"});
  if (kind < 0 || decoder.type().bytes != 4) decoder.refuse("unsupported form");
  decoder.want_operands(sync ? 5 : 4, sync ? 5 : 4);
  Instruction& out = decoder.out;
  out.flow = Flow::kCollective;
  out.together = shuffle;
  out.choice = static_cast<uint8_t>(kind);
  const Operand& into = decoder.operand(0);
  if (into.form == Operand::Form::kPair) {
    out.d = decoder.write(into.parts[0], kB32);
    decoder.extra().places.push_back(decoder.predicate(into.parts[1]));
  } else {
    out.d = decoder.write(into, kB32);
  }
  out.a = decoder.read(1, kB32);
  out.b = decoder.read(2, kB32);
  out.c = decoder.read(3, kB32);
  if (sync) out.e = decoder.read(4, kB32);
}

enum Vote : uint8_t { kAll, kAny, kUniform, kBallot };

void vote_together(Warp& warp, const std::vector<Arrival>& arrivals, uint32_t came) {
  uint32_t bits = 0;
  for (const Arrival& each : arrivals) {
    warp.use(*each.group);
    const uint32_t read = *at<uint32_t>(warp, each.instruction->a);
    bits |= (each.instruction->acquires ? ~read : read) & each.group->mask;
  }
  const uint8_t kind = arrivals[0].instruction->choice;
  if (kind == kBallot) {
    uint32_t results[kLanes];
    std::fill_n(results, kLanes, bits);
    spread(warp, arrivals, &Instruction::d, results);
    return;
  }
  const bool answer = kind == kAll   ? bits == came
                      : kind == kAny ? bits != 0
                                     : bits == came || bits == 0;
  spread_bits(warp, arrivals, &Instruction::d, answer ? kEveryLane : 0);
}

void vote(Decoder& decoder) {
  const bool sync = decoder.take("sync");
  const int kind = decoder.take_one_of({"all", "any", "uni", "ballot"});
  if (kind < 0) decoder.refuse("unknown vote mode; expected all, any, uni or ballot");
  const Type type = decoder.type();
  decoder.want_operands(sync ? 3 : 2, sync ? 3 : 2);
  Instruction& out = decoder.out;
  out.flow = Flow::kCollective;
  out.together = vote_together;
  out.choice = static_cast<uint8_t>(kind);
  out.d = kind == kBallot ? decoder.write(0, type) : decoder.predicate(decoder.operand(0));
  out.a = decoder.predicate(decoder.operand(1));
  out.acquires = decoder.operand(1).negated;
  if (sync) out.e = decoder.read(2, kB32);
}

template <class T, bool kEvery>
void match_together(Warp& warp, const std::vector<Arrival>& arrivals, uint32_t came) {
  T values[kLanes] = {};
  gather(warp, arrivals, &Instruction::a, values);
  uint32_t results[kLanes] = {};
  bool every = true;
  each_lane(came, [&](int lane) {
    each_lane(came, [&](int other) {
      results[lane] |= uint32_t{values[lane] == values[other]} << other;
    });
    every &= results[lane] == came;
  });
  if (kEvery) std::fill_n(results, kLanes, every ? came : 0);
  spread(warp, arrivals, &Instruction::d, results);
  if (kEvery) spread_bits(warp, arrivals, &Instruction::b, every ? kEveryLane : 0);
}

void match(Decoder& decoder) {
  const int every = decoder.take_one_of({"any", "all"});
  if (every < 0 || !decoder.take("sync")) decoder.refuse("unsupported form");
  const Type type = decoder.type();
  decoder.want_operands(3, 3);
  Instruction& out = decoder.out;
  out.flow = Flow::kCollective;
  const Operand& into = decoder.operand(0);
  if (into.form == Operand::Form::kPair) {
    out.d = decoder.write(into.parts[0], kB32);
    out.b = decoder.predicate(into.parts[1]);
  } else {
    out.d = decoder.write(into, kB32);
  }
  out.a = decoder.read(1, type);
  out.e = decoder.read(2, kB32);
  if (type.bytes == 8)
    out.together = every == 1 ? match_together<uint64_t, true> : match_together<uint64_t, false>;
  else if (type.bytes == 4)
    out.together = every == 1 ? match_together<uint32_t, true> : match_together<uint32_t, false>;
  else
    decoder.refuse("unsupported type");
}

enum Reduction : uint8_t { kAdd, kMin, kMax, kAnd, kOr, kXor };

void reduce_together(Warp& warp, const std::vector<Arrival>& arrivals, uint32_t came) {
  uint32_t values[kLanes] = {}, results[kLanes];
  gather(warp, arrivals, &Instruction::a, values);
  const Instruction& first = *arrivals[0].instruction;
  uint32_t result = values[__builtin_ctz(came)];
  each_lane(came & (came - 1), [&](int lane) {
    const uint32_t value = values[lane];
    const bool less =
        first.sign ? static_cast<int32_t>(value) < static_cast<int32_t>(result) : value < result;
    switch (first.choice) {
      case kAdd:
        result += value;
        break;
      case kMin:
        result = less ? value : result;
        break;
      case kMax:
        result = less ? result : value;
        break;
      case kAnd:
        result &= value;
        break;
      case kOr:
        result |= value;
        break;
      default:
        result ^= value;
    }
  });
  std::fill_n(results, kLanes, result);
  spread(warp, arrivals, &Instruction::d, results);
}

void redux(Decoder& decoder) {
  if (!decoder.take("sync")) decoder.refuse("it needs .sync");
  const int kind = decoder.take_one_of({"add", "min", "max", "and", "or", "xor"});
  const Type type = decoder.type();
  if (kind < 0 || !type.is_integer() || type.bytes != 4) decoder.refuse("unsupported form");
  decoder.want_operands(3, 3);
  Instruction& out = decoder.out;
  out.flow = Flow::kCollective;
  out.together = reduce_together;
  out.choice = static_cast<uint8_t>(kind);
  out.sign = type.kind == Kind::kSigned;
  out.d = decoder.write(0, type);
  out.a = decoder.read(1, type);
  out.e = decoder.read(2, kB32);
}

void activemask(Decoder& decoder) {
  if (decoder.type().bytes != 4) decoder.refuse("unsupported type");
  decoder.want_operands(1, 1);
  decoder.out.d = decoder.write(0, kB32);
  decoder.out.action = [](Warp& warp, const Instruction& i, uint32_t mask) {
    uint32_t* d = at<uint32_t>(warp, i.d);
    each_lane(mask, [=](int lane) { d[lane] = mask; });
  };
}

void elect(Decoder& decoder) {
  if (!decoder.take("sync")) decoder.refuse("it needs .sync");
  decoder.want_operands(2, 2);
  const Operand& into = decoder.operand(0);
  if (into.form != Operand::Form::kPair) decoder.refuse("its result must be a pair");
  Instruction& out = decoder.out;
  out.flow = Flow::kCollective;
  out.d = decoder.write(into.parts[0], kB32);
  out.b = decoder.predicate(into.parts[1]);
  out.e = decoder.read(1, kB32);
  out.together = [](Warp& warp, const std::vector<Arrival>& arrivals, uint32_t came) {
    uint32_t results[kLanes];
    std::fill_n(results, kLanes, static_cast<uint32_t>(__builtin_ctz(came)));
    spread(warp, arrivals, &Instruction::d, results);
    spread_bits(warp, arrivals, &Instruction::b, came & (0 - came));
  };
}

}  // namespace

void add_warp(Opcodes& table) {
  table["shfl"] = shfl;
  table["vote"] = vote;
  table["match"] = match;
  table["redux"] = redux;
  table["activemask"] = activemask;
  table["elect"] = elect;
}

}  // namespace sim
