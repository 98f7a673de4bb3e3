// Storages received from other processes.
#pragma once

#include <c10/core/Storage.h>

#include <cstddef>

#include "memory/lending.h"

namespace dl::core {

// Opens the sender's memory. Throws if the sender has exited, if it is this process, or if this
// process sees other devices.
c10::Storage borrow(const Loan& loan);

// Same, for a storage known from an earlier message.
void note_borrowed_again(const Loan& loan);

// Returns true if `memory` belongs to another process.
bool is_borrowed(const void* memory);

// Maps the bytes of a file as host memory, for the lifetime of the pointer.
at::DataPtr map_shared(const SharedFile& file, size_t bytes);

}  // namespace dl::core
