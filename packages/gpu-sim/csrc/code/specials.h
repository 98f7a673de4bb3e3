#pragma once

#include <cstdint>
#include <string_view>

#include "instruction.h"

namespace sim {

/** Registers like %tid.x, which a warp has from its beginning, at 32 lanes each. */
enum class Special : uint32_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLane,
  kWarp,
  kWarps,
  kSm,
  kSms,
  kGrid,
  kEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kDynamicShared,
  kTotalShared,
  kZero,
  kOne,
  kWorkspaceHigh,
  kWorkspaceLow,
  kCount,
};

/** Each register is there twice: 4 bytes a lane, then 8. */
constexpr uint32_t kSpecialBytes = kLanes * 12;

/** Where the values of a register lie for that width, or kNoPlace. */
uint32_t place_of_special(std::string_view name, unsigned bytes);

}  // namespace sim
