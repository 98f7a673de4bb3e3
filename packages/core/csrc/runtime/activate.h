// One-time registrations that make the device known to torch. They run when the first vendor is
// found, so that an installation without vendors leaves torch unchanged.
#pragma once

namespace dl::core {

void register_guard();
void register_hooks();
void register_allocators();
void register_graphs();

// Runs all registrations once.
void activate();

}  // namespace dl::core
