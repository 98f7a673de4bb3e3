// What the allocator did, and where in the program: torch.dl.memory._record_memory_history.
#pragma once

#include <torch/csrc/profiler/combined_traceback.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "memory/watcher.h"

namespace dl::core {

enum class Stacks { none, python, all };  // all: C++ too

struct HistoryOptions {
  size_t entries;  // the last so many are kept
  Stacks stacks;
};

struct HistoryEntry {
  MemoryNews news;
  int64_t microseconds;  // since 1970
  std::shared_ptr<torch::CapturedTraceback> stack;
};

// Starts anew, with nothing recorded.
void record_history(const HistoryOptions& options);
// What is recorded stays until recording starts again.
void stop_recording();

// The events of a device, oldest first.
std::vector<HistoryEntry> history_of(int device);
// Where the block at this address was allocated; NULL if that was not recorded.
std::shared_ptr<torch::CapturedTraceback> stack_of(const void* memory);

}  // namespace dl::core
