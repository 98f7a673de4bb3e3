#pragma once

#include <cstdint>
#include <string_view>

#include "instruction.h"

namespace sim {

/** Special registers such as %tid.x, initialized when a warp starts, with 32 lanes each. */
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

/** Each register is stored twice: with 4 bytes per lane, then with 8. */
constexpr uint32_t kSpecialBytes = kLanes * 12;

/** Return the location of a register's values for that width, or kNoPlace. */
uint32_t place_of_special(std::string_view name, unsigned bytes);

}  // namespace sim
