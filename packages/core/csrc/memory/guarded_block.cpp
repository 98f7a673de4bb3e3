#include "memory/guarded_block.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <vector>

#include "memory/transfer.h"
#include "runtime/device.h"
#include "runtime/stream.h"

namespace dl::core {
namespace {

constexpr int kGuardPattern = 0xA5;
constexpr int kNewPattern = 0xFF;
constexpr int kFreedPattern = 0xFD;

void fill(const GuardedBlock& block, char* begin, int pattern, size_t bytes) {
  if (bytes == 0) return;
  const Device& owner = device_unchecked(block.device);
  owner.vendor->call(&dl_vendor_table_t::memory_set, "memory_set", owner.local,
                     static_cast<void*>(begin), pattern, static_cast<uint64_t>(bytes),
                     current_native_stream(block.device));
}

std::optional<int64_t> first_change(const GuardedBlock& block, const char* begin, size_t bytes,
                                    int pattern) {
  if (bytes == 0) return std::nullopt;
  std::vector<unsigned char> read(bytes);
  copy_to_host(block.device, read.data(), begin, bytes);
  wait_for(block.device);
  const auto found =
      std::find_if(read.begin(), read.end(), [&](unsigned char byte) { return byte != pattern; });
  if (found == read.end()) return std::nullopt;
  return (begin - block.memory()) + (found - read.begin());
}

}  // namespace

void paint_new(const GuardedBlock& block) {
  repaint_guards(block);
  fill(block, block.memory(), kNewPattern, block.bytes);
}

void paint_freed(const GuardedBlock& block) {
  fill(block, block.memory(), kFreedPattern, block.bytes);
}

void repaint_guards(const GuardedBlock& block) {
  fill(block, block.whole, kGuardPattern, kGuardBytes);
  fill(block, block.guard_after(), kGuardPattern, kGuardBytes);
}

std::optional<int64_t> changed_guard(const GuardedBlock& block) {
  const auto after = first_change(block, block.guard_after(), kGuardBytes, kGuardPattern);
  if (after) return after;
  return first_change(block, block.whole, kGuardBytes, kGuardPattern);
}

std::optional<int64_t> changed_after_free(const GuardedBlock& block) {
  return first_change(block, block.memory(), block.bytes, kFreedPattern);
}

std::string describe(const GuardedBlock& block) {
  return c10::str("block ", block.number, " of ", block.bytes, " bytes at ",
                  static_cast<const void*>(block.memory()), " on dl:", block.device);
}

}  // namespace dl::core
