// Branches, calls, returns, barriers, fences.

#include "../run/collectives.h"
#include "../run/launch.h"
#include "memory_operand.h"
#include "table.h"

namespace sim {

namespace {

void bra(Decoder& decoder) {
  decoder.take("uni");
  decoder.want_operands(1, 1);
  decoder.out.flow = Flow::kBranch;
  decoder.out.target = decoder.label(decoder.operand(0).name);
}

void brx(Decoder& decoder) {
  if (!decoder.take("idx")) decoder.refuse("it needs .idx");
  decoder.take("uni");
  decoder.want_operands(2, 2);
  decoder.out.flow = Flow::kBranchTable;
  decoder.out.a = decoder.read(0, kU32);
  for (const std::string_view label : decoder.label_list(decoder.operand(1).name))
    decoder.extra().targets.push_back(decoder.label(label));
}

/** Decode `call (r), f, (a, b), prototype`. Results and arguments are optional. */
void call(Decoder& decoder) {
  decoder.take("uni");
  decoder.out.flow = Flow::kCall;
  size_t next = 0;
  const auto is_list = [&](size_t index) {
    return index < decoder.operands() && decoder.operand(index).form == Operand::Form::kList;
  };
  Extra& extra = decoder.extra();
  if (is_list(0)) {
    for (const Operand& each : decoder.operand(next++).parts)
      extra.more.push_back(static_cast<uint32_t>(decoder.parameter(each).first));
  }
  const Operand& target = decoder.operand(next++);
  if (is_list(next)) {
    for (const Operand& each : decoder.operand(next).parts)
      extra.places.push_back(static_cast<uint32_t>(decoder.parameter(each).first));
  }
  if (const Action action = runtime_call(target.name)) {
    decoder.out.flow = Flow::kPlain;
    decoder.out.action = action;
    return;
  }
  decoder.out.target = decoder.callee(target.name);
  if (decoder.out.target >= 0) return;
  decoder.out.a = decoder.read(target, kU64);
  decoder.calls_pointers();
}

void barrier(Decoder& decoder, bool aligned) {
  decoder.take("cta");
  const int kind = decoder.take_one_of({"sync", "arrive", "red"});
  if (kind < 0) {
    if (decoder.take("warp")) {
      if (!decoder.take("sync")) decoder.refuse("it needs .sync");
      decoder.want_operands(1, 1);
      decoder.out.flow = Flow::kCollective;
      decoder.out.e = decoder.read(0, kB32);
      decoder.out.together = [](Warp& warp, const std::vector<Arrival>&, uint32_t mask) {
        warp.launch.begin_segment(warp, mask);
      };
      return;
    }
    decoder.refuse("it needs .sync, .arrive or .red");
  }
  int reduction = -1;
  if (kind == 2) reduction = decoder.take_one_of({"popc", "and", "or"});
  if (decoder.take("aligned")) aligned = true;
  Instruction& out = decoder.out;
  out.flow = Flow::kBarrier;
  out.acquires = kind != 1;
  out.sign = aligned;
  size_t next = 0;
  if (kind == 2) {
    if (reduction < 0) decoder.refuse("it needs .popc, .and or .or");
    const Type type = decoder.type();
    out.choice = static_cast<uint8_t>(reduction);
    out.d = type.kind == Kind::kPredicate ? decoder.predicate(decoder.operand(0))
                                          : decoder.write(0, type);
    next = 1;
  }
  const size_t left = decoder.operands() - next;
  const bool counted = kind == 2 ? left == 3 : left == 2;
  if (left == 0) {
    out.a = decoder.constant(0, 4);
  } else {
    out.a = decoder.read(next, kU32);
  }
  if (counted) out.b = decoder.read(next + 1, kU32);
  if (kind == 1 && !counted) decoder.refuse("bar.arrive needs a number of threads");
  if (kind == 2) {
    const Operand& input = decoder.operand(decoder.operands() - 1);
    out.c = decoder.predicate(input);
    if (input.negated) out.choice |= kNegatedInput;
  }
}

void run_fence(Warp& warp, const Instruction& i, uint32_t mask) { fence(warp, mask, i.own_block); }

void trap(Warp& warp, const Instruction& i, uint32_t mask) {
  warp.launch.report_lanes(Fault::kTrap, warp, mask, i, 0,
                           [] { return std::string("the kernel executed a trap"); });
  warp.launch.fail(Outcome::kTrap, true);
}

void nothing(Warp&, const Instruction&, uint32_t) {}

}  // namespace

void add_control(Opcodes& table) {
  table["bra"] = bra;
  table["brx"] = brx;
  table["call"] = call;
  table["ret"] = [](Decoder& decoder) {
    decoder.take("uni");
    decoder.out.flow = Flow::kReturn;
  };
  table["exit"] = [](Decoder& decoder) { decoder.out.flow = Flow::kExit; };
  table["bar"] = [](Decoder& decoder) { barrier(decoder, true); };
  table["barrier"] = [](Decoder& decoder) { barrier(decoder, false); };
  table["membar"] = [](Decoder& decoder) {
    const int scope = decoder.take_one_of({"cta", "gl", "sys"});
    if (scope < 0) decoder.refuse("it needs a scope");
    decoder.out.own_block = scope == 0;
    decoder.out.action = run_fence;
  };
  table["fence"] = [](Decoder& decoder) {
    if (decoder.take("proxy")) {
      while (decoder.more()) decoder.next_word();
      decoder.out.action = nothing;
      return;
    }
    decoder.take_one_of({"sc", "acq_rel", "acquire", "release"});
    if (!take_scope(decoder)) decoder.refuse("it needs a scope");
    decoder.out.action = run_fence;
  };
  table["trap"] = [](Decoder& decoder) { decoder.out.action = trap; };
  table["brkpt"] = [](Decoder& decoder) { decoder.out.action = nothing; };
}

}  // namespace sim
