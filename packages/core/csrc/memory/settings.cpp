#include "memory/settings.h"

#include <c10/core/AllocatorConfig.h>

#include <algorithm>
#include <atomic>

namespace dl::core {
namespace {

using Config = c10::CachingAllocator::AcceleratorAllocatorConfig;

constexpr size_t kLargeBlock = size_t{10} << 20;  // larger blocks get a segment each
constexpr size_t kSegmentUnit = size_t{2} << 20;
constexpr size_t kPartOfDevice = 64;

std::atomic<bool> to_powers{false};

size_t round_to_power(size_t bytes, size_t unit) {
  const size_t divisions = Config::roundup_power2_divisions(bytes);
  if (divisions <= 1 || bytes <= unit * divisions) return bytes;
  const size_t power = size_t{1} << (63 - __builtin_clzll(bytes));
  return round_up(bytes, power / divisions);
}

}  // namespace

bool rounds_to_powers() noexcept { return to_powers.load(std::memory_order_relaxed); }

void read_settings() {
  bool any = false;
  for (const size_t divisions : Config::roundup_power2_divisions()) any |= divisions > 1;
  to_powers.store(any, std::memory_order_relaxed);
}

size_t round_size(size_t bytes, const Device& device) {
  const size_t unit = block_unit(device);
  if (C10_UNLIKELY(rounds_to_powers())) bytes = round_to_power(bytes, unit);
  return (bytes + unit - 1) & ~(unit - 1);
}

SplitLimits split_limits(const Device& device) {
  return {block_unit(device), Config::max_split_size(), Config::max_non_split_rounding_size()};
}

size_t segment_bytes(size_t bytes, size_t total) {
  size_t usual = round_up(bytes, kSegmentUnit);
  if (bytes <= kSmallBlock) {
    usual = kSmallSegment;
  } else if (bytes < kLargeBlock) {
    usual = Config::large_segment_size();
  }
  if (total == 0) return usual;
  return std::max(bytes, std::min(usual, total / kPartOfDevice / kDeviceUnit * kDeviceUnit));
}

double garbage_collection_threshold() { return Config::garbage_collection_threshold(); }

}  // namespace dl::core
