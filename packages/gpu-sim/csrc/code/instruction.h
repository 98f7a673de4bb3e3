#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../ptx/syntax.h"

namespace sim {

struct Warp;
struct Instruction;

constexpr int kLanes = 32;
constexpr uint32_t kEveryLane = ~uint32_t{0};

/** Executes an instruction for the lanes of a mask, which is not empty. */
using Action = void (*)(Warp& warp, const Instruction& instruction, uint32_t mask);

struct Arrival;
/** Executes a warp-level operation for all participating lanes: see run/collectives.h. */
using CollectiveAction = void (*)(Warp& warp, const std::vector<Arrival>& arrivals, uint32_t mask);

/** Effect of an instruction on control flow, in addition to its action. */
enum class Flow : uint8_t {
  kPlain,
  kBranch,
  kBranchTable,
  kCall,
  kReturn,
  kExit,
  kBarrier,     // of the block
  kCollective,  // of a warp
  kUnsupported,
};

/** The location of 32 values: an offset, a multiple of 4, plus a value of this enumeration. */
enum : uint32_t { kInFrame = 0, kInConstants = 1, kInWarp = 2, kPlaceBits = 3 };

constexpr uint32_t kNoPlace = ~uint32_t{0};

struct Instruction {
  Action action = nullptr;
  CollectiveAction together = nullptr;
  uint32_t d = kNoPlace, a = kNoPlace, b = kNoPlace, c = kNoPlace, e = kNoPlace;
  uint32_t guard = kNoPlace;  // a predicate: one bit per lane
  bool guard_negated = false;
  Flow flow = Flow::kPlain;
  Space space = Space::kGeneric;
  uint8_t bytes = 0;                 // size of a memory access, per element of a vector
  uint8_t count = 1;                 // elements of a vector
  uint8_t d_bytes = 0, a_bytes = 0;  // widths of registers that are wider than the type
  uint8_t choice = 0;                // variant of the action
  bool sign = false;                 // sign-extend a load
  bool strong = false;               // volatile, relaxed, acquire, release, atomic
  bool acquires = false, releases = false;
  bool relaxed = false;    // has `.relaxed`: orders later accesses only after a fence
  bool own_block = false;  // scope .cta or .cluster: orders only threads of the block
  int32_t target = -1;     // branch target, or index of a callee
  int32_t extra = -1;      // index into Code::extras
  int64_t plus = 0;        // added to an address
  int32_t index = 0;       // index in its code
  int32_t line = 0;        // line of the text
  int32_t source = -1;     // index into Module::sources
};

/** Rare parts of an instruction: a list of locations, of targets, a message. */
struct Extra {
  std::vector<uint32_t> places;
  std::vector<uint8_t> widths;
  std::vector<int32_t> targets;
  std::vector<uint32_t> more;
  std::string text;
};

}  // namespace sim
