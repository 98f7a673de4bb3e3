#include "races.h"

#include <algorithm>

namespace sim {
namespace {

/** Happens-before order between an earlier access and a lane's current one. */
class Order {
 public:
  Order(const Warp& warp, uint32_t lane) : warp_(warp), lane_(lane), segment_(warp.segment[lane]) {}

  bool before(const Access& earlier) {
    if (earlier.segment == segment_) return earlier.lane() == lane_ && !earlier.many_lanes();
    if (earlier.segment == asked_.segment && earlier.lane() == asked_.lane()) return answer_;
    asked_ = earlier;
    const Segment* then = warp_.launch.segment(earlier.segment);
    return answer_ = then == nullptr || find(earlier, *then);  // null: another launch, or no access
  }

 private:
  bool find(const Access& earlier, const Segment& then) const {
    if (then.block != warp_.block.serial) {
      const auto known = warp_.block.known.find(clock_key(then.block, then.warp));
      return known != warp_.block.known.end() && known->second >= then.clock;
    }
    if (then.warp != warp_.index) return warp_.clocks[then.warp] >= then.clock;
    if (earlier.lane() == lane_ && !earlier.many_lanes()) return true;
    // Check whether both lanes have synchronised since the earlier access.
    for (uint32_t at = segment_; at > earlier.segment;) {
      const Segment* each = warp_.launch.segment(at);
      if (each == nullptr) break;
      if ((each->mask >> earlier.lane() & 1) != 0) return true;
      at = each->parent;
    }
    return false;
  }

  const Warp& warp_;
  uint32_t lane_;
  uint32_t segment_;
  Access asked_;
  bool answer_ = true;  // at first asked_ stands for a missing access
};

void race(Warp& warp, const Instruction& here, uint32_t lane, const Region& region,
          uint64_t address, const Access& earlier, const char* now, const char* then) {
  Launch& launch = warp.launch;
  launch.report(Fault::kRace, warp, lane, here, address, [&] {
    const Segment& past = *launch.segment(earlier.segment);
    const bool same_block = past.block == warp.block.serial;
    const char* between = !same_block               ? "another block"
                          : past.warp != warp.index ? "another warp"
                                                    : "another thread of the warp";
    const char* scope = here.strong && earlier.strong() ? ": a scope is only the block" : "";
    char text[256];
    std::snprintf(text, sizeof text,
                  "%s %s memory at 0x%llx, which %s (block %u, thread %u) %s, and the accesses "
                  "are unordered%s",
                  now, region.what == Region::What::kShared ? "shared" : "global",
                  static_cast<unsigned long long>(address), between, past.block,
                  past.warp * kLanes + earlier.lane(), then, scope);
    return std::string(text);
  });
}

/** Acquire the clock of a warp; a warp of another block only for a device-wide order. */
void see(Warp& warp, const Clocks& times, bool own_block) {
  for (const auto& [key, time] : times) {
    const auto block = static_cast<uint32_t>(key >> 5);
    if (block != warp.block.serial) {
      if (own_block) continue;
      uint32_t& known = warp.block.known[key];
      known = std::max(known, time);
    } else if ((key & 31) != warp.index) {
      warp.clocks[key & 31] = std::max(warp.clocks[key & 31], time);
    }
  }
}

void meet_for_later(Warp& warp, const Clocks& times, bool own_block) {
  for (const auto& [key, time] : times) {
    if (own_block && key >> 5 != warp.block.serial) continue;
    uint32_t& met = warp.met[key];
    met = std::max(met, time);
  }
}

}  // namespace

void note_access(Warp& warp, const Instruction& here, uint32_t lane, Region& region,
                 uint64_t offset, uint32_t bytes, Purpose purpose, const uint8_t* fresh) {
  const uint32_t segment = warp.segment[lane];
  const uint32_t strength =
      (here.strong ? Access::kStrong : 0) | (here.own_block ? Access::kOwnBlock : 0);
  const uint32_t where = Access::pack(static_cast<uint32_t>(here.index), lane) | strength;
  Order order(warp, lane);
  const auto conflicts = [&](const Access& earlier) {
    if (here.strong && earlier.strong() && !(here.own_block || earlier.own_block())) return false;
    if (order.before(earlier)) return false;
    return !(here.strong && earlier.strong()) ||
           warp.launch.segment(earlier.segment)->block != warp.block.serial;
  };
  bool raced = false;
  bool same_value = false;
  const uint64_t address = region.base + offset;
  for (uint32_t i = 0; i < bytes; ++i) {
    History& history = region.history[offset + i];
    if (purpose == Purpose::kRead) {
      if (!raced && conflicts(history.writer)) {
        raced = true;
        race(warp, here, lane, region, address, history.writer, "reads", "has written");
      }
      Access& reader = history.reader;
      if (reader.segment == segment) {
        const bool many = reader.many_lanes() || reader.lane() != lane;
        const bool strong = reader.strong() && here.strong;
        const bool own_block = reader.own_block() || here.own_block;
        reader.where = Access::pack(static_cast<uint32_t>(here.index), lane) |
                       (many ? Access::kManyLanes : 0) | (strong ? Access::kStrong : 0) |
                       (own_block ? Access::kOwnBlock : 0);
        continue;
      }
      const Segment* other = warp.launch.segment(reader.segment);
      if (other != nullptr && (other->warp != warp.index || other->block != warp.block.serial))
        history.other = reader;
      reader = {segment, where};
      continue;
    }
    if (!raced && conflicts(history.writer)) {
      if (fresh != nullptr && fresh[i] == region.bytes[offset + i]) {
        same_value = true;
      } else {
        raced = true;
        race(warp, here, lane, region, address, history.writer, "writes", "has written");
      }
    }
    for (const Access* reader : {&history.reader, &history.other}) {
      if (raced || !conflicts(*reader)) continue;
      raced = true;
      race(warp, here, lane, region, address, *reader, "writes", "has read");
    }
    history.writer = {segment, where};
    history.reader = history.other = Access{};
  }
  if (same_value && !raced) warp.launch.count_same_value();
}

void fence(Warp& warp, uint32_t mask, bool own_block) {
  // Acquire before release: clocks that are acquired here are also released.
  if (!warp.met.empty()) {
    see(warp, warp.met, own_block);
    if (!own_block) warp.met.clear();
  }
  Clocks seen;
  if (!own_block) seen = warp.block.known;
  for (uint32_t i = 0; i < warp.block.warps.size(); ++i)
    if (warp.clocks[i] != 0) seen[clock_key(warp.block.serial, i)] = warp.clocks[i];
  warp.fenced_in_block = std::make_shared<const Clocks>(std::move(seen));
  if (!own_block) warp.fenced = warp.fenced_in_block;
  ++warp.clocks[warp.index];
  warp.launch.begin_segment(warp, mask, false);
}

void synchronise(Warp& warp, const Instruction& here, Space space, uint64_t address,
                 Purpose purpose) {
  // Shared memory of all blocks has the same addresses, so make them unique.
  if (space == Space::kShared) address |= uint64_t{1} << 63 | uint64_t{warp.block.serial} << 32;
  Launch& launch = warp.launch;
  if (purpose != Purpose::kWrite) {
    // Atomics without a memory order and volatile reads predate CUDA's memory model: programs
    // rely on later reads being ordered after them.
    const bool later = here.relaxed && !here.acquires;
    const auto meet = [&](const auto& all, bool own_block) {
      const auto found = all.find(address);
      if (found == all.end()) return;
      if (later) {
        meet_for_later(warp, found->second, own_block);
      } else {
        see(warp, found->second, own_block);
      }
    };
    if (!launch.released.empty()) meet(launch.released, here.own_block);
    if (!launch.released_in_block.empty()) meet(launch.released_in_block, true);
  }
  if (purpose == Purpose::kRead) return;
  if (!here.own_block && warp.fenced) join(launch.released[address], *warp.fenced);
  // If both clocks are the same, the device-wide entry serves the block as well.
  if (warp.fenced_in_block && (here.own_block || warp.fenced != warp.fenced_in_block))
    join(launch.released_in_block[address], *warp.fenced_in_block);
}

}  // namespace sim
