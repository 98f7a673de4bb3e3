// Memory copies, enqueued on a device's current stream.
#pragma once

#include <cstddef>

namespace dl::core {

void copy_within_device(int device, void* destination, const void* source, size_t bytes);
// Copies between two devices, in the order of both current streams. Returns false without copying
// if the devices have different vendors or the vendor does not support it.
bool copy_to_peer(int source_device, const void* source, int device, void* destination,
                  size_t bytes);
bool has_peer_copies(int source_device, int device);
// `host` may be pageable; unless it is pinned, the caller may reuse it on return.
void copy_to_device(int device, void* destination, const void* host, size_t bytes);
// The bytes are valid after synchronizing the device's current stream.
void copy_to_host(int device, void* host, const void* source, size_t bytes);
// Synchronizes the current stream of `device`.
void wait_for(int device);

}  // namespace dl::core
