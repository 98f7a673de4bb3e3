// Storages that were sent by other processes: the receiver's side.
#pragma once

#include <c10/core/Storage.h>

#include <cstddef>

#include "memory/lending.h"

namespace dl::core {

// The sender's memory. Throws where the sender has ended or is this process, and where this process
// sees other devices.
c10::Storage borrow(const Loan& loan);

// The same where the storage is known from an earlier message.
void note_borrowed_again(const Loan& loan);

// Whether `memory` is another process's.
bool is_borrowed(const void* memory);

// The bytes of a file as memory of the host, for as long as the pointer lives.
at::DataPtr map_shared(const SharedFile& file, size_t bytes);

}  // namespace dl::core
