// Storages sent to other processes.
//
// If the vendor exports memory (dl/peer.h), the block itself is shared. A block freed here remains
// allocated while another process uses it or a message about it is pending. If the vendor accepts
// any host pointer, the bytes are moved to a memory file that all processes map; each process then
// owns its mapping.
#pragma once

#include <c10/core/StorageImpl.h>

#include <cstdint>
#include <type_traits>

#include "dl/peer.h"
#include "memory/shared_file.h"

namespace dl::core {

// The message: everything that a process needs to open the memory.
struct Loan {
  SharedName name;
  uint32_t is_device_memory;  // otherwise the bytes are in the file
  int32_t device;             // device index at the sender, which must be the same at the receiver
  uint64_t bytes;
  uint64_t offset;  // within the exported memory
  char vendor[64];
  dl_peer_handle_t handle;
};
static_assert(std::is_trivially_copyable_v<Loan>);

// Returns true if storages of `device` can be sent.
bool can_lend(int device);

// Prepares one message. Synchronizes the device, so that the receiver sees earlier writes. Throws
// if the vendor does not share memory, or if the storage itself was received.
Loan lend(c10::StorageImpl& storage);

// The original context of lent memory, if `deleter` is the deleter of lent memory; otherwise NULL.
void* context_of_lent(const void* memory, at::DeleterFnPtr deleter);

// Frees memory that no other process uses any more. Does not block.
void collect_loans();

}  // namespace dl::core
