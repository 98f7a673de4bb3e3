// Storages that are sent to other processes: the sender's side.
//
// Where the vendor exports memory (dl/peer.h), the block itself is shared. What is freed here stays
// allocated until nobody there uses it and no message with it is under way. Where the vendor takes
// any host pointer, the bytes move into a memory file that all map; then each process keeps its own
// mapping.
#pragma once

#include <c10/core/StorageImpl.h>

#include <cstdint>
#include <type_traits>

#include "dl/peer.h"
#include "memory/shared_file.h"

namespace dl::core {

// What is sent: all that a process needs to open the same memory.
struct Loan {
  SharedName name;
  uint32_t is_device_memory;  // else the bytes are in the file
  int32_t device;             // as the sender numbers it, and the receiver has to
  uint64_t bytes;
  uint64_t offset;  // in the exported memory
  char vendor[64];
  dl_peer_handle_t handle;
};
static_assert(std::is_trivially_copyable_v<Loan>);

// Whether storages of `device` can be sent.
bool can_lend(int device);

// For one message. Waits for the device, so that the receiver sees what was written before. Throws
// where the vendor shares no memory, and for storages that were received themselves.
Loan lend(c10::StorageImpl& storage);

// What memory that is lent here needed to be freed before, if `deleter` is what freed it; else
// NULL.
void* context_of_lent(const void* memory, at::DeleterFnPtr deleter);

// Frees what no other process wants any more. Waits for nothing.
void collect_loans();

}  // namespace dl::core
