// What the allocator did, and where in the program: torch.dl.memory._record_memory_history.
#pragma once

#include <torch/csrc/profiler/combined_traceback.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "memory/watcher.h"

namespace dl::core {

enum class Stacks { python, all };  // all: C++ frames as well

// Stacks that are kept: none; those of living blocks; those of allocations in the history as well;
// those of every event.
enum class StacksOf { nothing, blocks, allocations, all };

struct HistoryOptions {
  size_t entries;  // the most recent events are kept, this many at most
  Stacks stacks = Stacks::all;
  StacksOf stacks_of = StacksOf::all;
  std::vector<MemoryEvent> skipped = {};  // events that do not enter the history
};

struct HistoryEntry {
  MemoryNews news;
  int64_t microseconds;  // since 1970
  std::shared_ptr<torch::CapturedTraceback> stack;
};

// Starts recording, or changes the options of a recording that is running, which keeps its events
// unless `clear` is true.
void record_history(HistoryOptions options, bool clear);
// Recorded events are kept until recording starts again.
void stop_recording();

// The events of a device, oldest first.
std::vector<HistoryEntry> history_of(int device);
// Where the block at this address was allocated; NULL if that was not recorded.
std::shared_ptr<torch::CapturedTraceback> stack_of(const void* memory);

}  // namespace dl::core
