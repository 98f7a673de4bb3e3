#include "memory/out_of_memory.h"

#include <c10/util/Exception.h>

#include <array>
#include <cstdio>

namespace dl::core {
namespace {

std::string readable(double bytes) {
  static constexpr std::array<const char*, 4> kUnits = {"bytes", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.2f %s", bytes, kUnits[unit]);
  return text;
}

}  // namespace

void throw_out_of_memory(size_t bytes, int device, const std::string& description,
                         std::optional<std::pair<size_t, size_t>> free_and_total, int64_t allocated,
                         int64_t reserved, const char* reason) {
  const auto size = [](auto value) { return readable(static_cast<double>(value)); };
  const std::string capacity = free_and_total
                                   ? " has a total capacity of " + size(free_and_total->second) +
                                         " of which " + size(free_and_total->first) + " is free. "
                                   : ": its capacity is unknown. ";
  TORCH_CHECK_WITH(OutOfMemoryError, false, "DL out of memory. Tried to allocate ", size(bytes),
                   ". Device dl:", device, " (", description, ")", capacity, size(allocated),
                   " is allocated by tensors, ", size(reserved),
                   " is reserved by dl. Free tensors, use a smaller batch, or call "
                   "torch.accelerator.empty_cache(). Remedies for \"CUDA out of memory.\" "
                   "apply here as well. ",
                   reason);
}

}  // namespace dl::core
