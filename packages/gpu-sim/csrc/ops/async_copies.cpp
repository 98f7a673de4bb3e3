// cp.async: asynchronous copies from global to shared memory, which are awaited in groups.

#include <algorithm>
#include <cstring>

#include "memory_operand.h"
#include "table.h"

namespace sim {
namespace {

/** Copy immediately, but mark the bytes as uninitialised until a wait. */
void copy(Warp& warp, const Instruction& i, uint32_t mask) {
  const Extra& extra = warp.code().extras[static_cast<size_t>(i.extra)];
  each_lane(mask, [&](int lane) {
    const auto number = static_cast<uint32_t>(lane);
    uint32_t taken = i.bytes;
    if (i.c != kNoPlace) taken = std::min<uint32_t>(taken, at<uint32_t>(warp, i.c)[lane]);
    if (i.e != kNoPlace && (*at<uint32_t>(warp, i.e) >> lane & 1) != 0) taken = 0;
    uint8_t bytes[16] = {};
    const uint64_t from =
        value_at<uint64_t>(warp, i.b, 8, lane) + static_cast<uint64_t>(extra.targets[0]);
    // If fewer bytes are requested, the source is not read beyond them.
    for (uint32_t done = 0; done < taken;) {
      const uint32_t left = taken - done;
      const uint32_t part = left == i.bytes ? left : left & (0 - left);
      const uint8_t* source =
          reach(warp, i, number, Space::kGlobal, from + done, part, Purpose::kRead);
      if (source == nullptr) break;
      __builtin_memcpy(bytes + done, source, part);
      done += part;
    }
    uint8_t* into = reach(warp, i, number, Space::kShared, address_of(warp, i, lane), i.bytes,
                          Purpose::kWrite, bytes);
    if (into == nullptr) return;
    __builtin_memcpy(into, bytes, i.bytes);
    const uint64_t address = address_of(warp, i, lane);
    Region* region = address >= kDynamicShared ? warp.block.dynamic.get() : warp.block.fixed.get();
    // Until the wait, the bytes count as unwritten.
    std::memset(region->valid + (address - region->base), 0, i.bytes);
    warp.pending[number].push_back({address, i.bytes, 0});
  });
}

void commit(Warp& warp, const Instruction&, uint32_t mask) {
  each_lane(mask, [&](int lane) {
    for (PendingCopy& each : warp.pending[static_cast<size_t>(lane)]) ++each.age;
  });
}

/** Complete all copies except the copies of the newest `keep` groups. */
void wait(Warp& warp, const Instruction& i, uint32_t mask) {
  each_lane(mask, [&](int lane) {
    auto& all = warp.pending[static_cast<size_t>(lane)];
    const auto complete = [&](const PendingCopy& each) {
      const bool done = i.choice != 0 || each.age > static_cast<uint32_t>(i.plus);
      if (done) {
        Region* region =
            each.address >= kDynamicShared ? warp.block.dynamic.get() : warp.block.fixed.get();
        std::memset(region->valid + (each.address - region->base), 1, each.bytes);
      }
      return done;
    };
    all.erase(std::remove_if(all.begin(), all.end(), complete), all.end());
  });
}

void cp(Decoder& decoder) {
  if (!decoder.take("async")) decoder.refuse("only cp.async is supported");
  Instruction& out = decoder.out;
  if (decoder.take("commit_group")) {
    out.action = commit;
    return;
  }
  if (decoder.take("wait_all")) {
    out.choice = 1;
    out.action = wait;
    return;
  }
  if (decoder.take("wait_group")) {
    out.plus = static_cast<int64_t>(decoder.literal(0));
    out.action = wait;
    return;
  }
  const int cache = decoder.take_one_of({"ca", "cg"});
  if (cache < 0 || decoder.take_one_of({"shared", "shared::cta"}) < 0 || !decoder.take("global"))
    decoder.refuse("unsupported form");
  skip_cache_hints(decoder);
  decoder.want_operands(3, 4);
  const uint64_t bytes = decoder.literal(2);
  if (bytes != 16 && (cache == 1 || (bytes != 4 && bytes != 8)))
    decoder.refuse("the size must be 4, 8 or 16 bytes (16 with .cg)");
  decoder.address(decoder.operand(1));
  if (out.a_bytes != 8) decoder.refuse("the global address must have 64 bits");
  out.b = out.a;
  const auto plus = static_cast<int32_t>(out.plus);
  decoder.address(decoder.operand(0));
  decoder.extra().targets.push_back(plus);
  out.bytes = static_cast<uint8_t>(bytes);
  if (decoder.operands() == 4) {
    const Operand& size = decoder.operand(3);
    if (decoder.is_predicate(size)) {
      out.e = decoder.predicate(size);
    } else {
      out.c = decoder.read(size, kU32);
    }
  }
  out.action = copy;
}

}  // namespace

void add_async_copies(Opcodes& table) { table["cp"] = cp; }

}  // namespace sim
