// The one-time registrations that make torch see the device. Called when the first vendor is found,
// so that an installation without vendors leaves torch untouched.
#pragma once

namespace dl::core {

void register_guard();
void register_hooks();
void register_allocators();
void register_graphs();

// All of the above, once.
void activate();

}  // namespace dl::core
