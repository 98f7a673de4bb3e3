// Out-of-memory errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace dl::core {

// Throws c10::OutOfMemoryError with the wording of other devices' allocators: people search for it,
// and programs match it to retry with a smaller batch.
[[noreturn]] void throw_out_of_memory(size_t bytes, int device, const std::string& description,
                                      std::optional<std::pair<size_t, size_t>> free_and_total,
                                      int64_t allocated, int64_t reserved, const char* reason);

}  // namespace dl::core
