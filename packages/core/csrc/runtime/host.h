// Host table for vendors under torch: memory, logging, and torch's thread pool.
#pragma once

#include "dl/host.h"

namespace dl::core {

const dl_host_t* host_table();

// Return true in a child process whose parent had used a dl device: thread pools and driver state
// do not survive a fork.
bool in_bad_fork();
// Throws in such a child, with the remedy.
void check_not_forked();
// Called when the first device is used, so that later forks are detected.
void note_device_use();

}  // namespace dl::core
