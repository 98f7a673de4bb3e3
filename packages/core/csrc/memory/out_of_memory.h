// What a user is told when a device has no memory left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace dl::core {

// Throws c10::OutOfMemoryError in the words of other devices' allocators, which people and programs
// that try again with a smaller batch look for.
[[noreturn]] void throw_out_of_memory(size_t bytes, int device, const std::string& description,
                                      std::optional<std::pair<size_t, size_t>> free_and_total,
                                      int64_t allocated, int64_t reserved, const char* reason);

}  // namespace dl::core
