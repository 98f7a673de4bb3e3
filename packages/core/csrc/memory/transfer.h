// Raw copies, enqueued on a device's current stream.
#pragma once

#include <cstddef>

namespace dl::core {

void copy_within_device(int device, void* destination, const void* source, size_t bytes);
// Between two devices, in the order of the current streams of both. False, and nothing is done,
// where no vendor can: they have two vendors, or one that does not offer it.
bool copy_to_peer(int source_device, const void* source, int device, void* destination,
                  size_t bytes);
bool has_peer_copies(int source_device, int device);
// `host` may be pageable; it is free to be reused on return unless it is pinned.
void copy_to_device(int device, void* destination, const void* host, size_t bytes);
// The bytes are valid after the device's current stream was synchronised.
void copy_to_host(int device, void* host, const void* source, size_t bytes);
// Waits for the current stream of `device`.
void wait_for(int device);

}  // namespace dl::core
