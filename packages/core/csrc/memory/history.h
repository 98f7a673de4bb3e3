// History of the allocator with stack traces: torch.dl.memory._record_memory_history.
#pragma once

#include <torch/csrc/profiler/combined_traceback.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "memory/watcher.h"

namespace dl::core {

enum class Stacks { python, all };  // all: includes C++ frames

// Stacks to record: none; of live blocks; also of allocations in the history; of every event.
enum class StacksOf { nothing, blocks, allocations, all };

struct HistoryOptions {
  size_t entries;  // maximum number of recorded events; older ones are dropped
  Stacks stacks = Stacks::all;
  StacksOf stacks_of = StacksOf::all;
  std::vector<MemoryEvent> skipped = {};  // events to leave out
};

struct HistoryEntry {
  MemoryNews news;
  int64_t microseconds;  // since the Unix epoch
  std::shared_ptr<torch::CapturedTraceback> stack;
};

// Starts recording, or changes the options of an active recording. An active recording keeps its
// events unless `clear` is true.
void record_history(HistoryOptions options, bool clear);
// Stops recording; the events are kept until recording starts again.
void stop_recording();

// The events of a device, oldest first.
std::vector<HistoryEntry> history_of(int device);
// The stack of the allocation of a block; NULL if it was not recorded.
std::shared_ptr<torch::CapturedTraceback> stack_of(const void* memory);

}  // namespace dl::core
