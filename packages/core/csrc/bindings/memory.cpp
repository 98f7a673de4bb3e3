#include "bindings/memory.h"

#include <c10/core/AllocatorConfig.h>
#include <pybind11/stl.h>
#include <torch/csrc/profiler/combined_traceback.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "memory/graph_pools.h"
#include "memory/growth.h"
#include "memory/history.h"
#include "memory/memory_checker.h"
#include "memory/raw_memory.h"
#include "memory/snapshot.h"
#include "runtime/device.h"

namespace py = pybind11;

namespace torch {
// Declared here because its header needs nlohmann/json.hpp, which torch's wheel does not contain.
std::vector<py::object> py_symbolize(std::vector<CapturedTraceback*>& to_symbolize);
}  // namespace torch

namespace dl::core {
namespace {

// Symbolizes all stacks at once, because they share many frames.
class Frames {
 public:
  // Sets `entry["frames"]` after all stacks are collected.
  void add(py::dict entry, const std::shared_ptr<torch::CapturedTraceback>& stack) {
    if (stack == nullptr) {
      entry["frames"] = py::list();
      return;
    }
    kept_.push_back(stack);
    stacks_.push_back(stack.get());
    entries_.push_back(std::move(entry));
  }
  void fill_in() {
    const std::vector<py::object> frames = torch::py_symbolize(stacks_);
    for (size_t i = 0; i < entries_.size(); ++i) entries_[i]["frames"] = frames[i];
  }

 private:
  std::vector<std::shared_ptr<torch::CapturedTraceback>> kept_;
  std::vector<torch::CapturedTraceback*> stacks_;
  std::vector<py::dict> entries_;
};

const char* state_name(BlockState state) {
  switch (state) {
    case BlockState::used:
      return "active_allocated";
    case BlockState::waiting:
      return "active_pending_free";
    default:
      return "inactive";
  }
}

// Events, with their names in torch.cuda.memory.
constexpr std::array<std::pair<const char*, MemoryEvent>, 6> kActions = {{
    {"alloc", MemoryEvent::allocated},
    {"free_requested", MemoryEvent::freed},
    {"free_completed", MemoryEvent::reusable},
    {"segment_alloc", MemoryEvent::segment_allocated},
    {"segment_free", MemoryEvent::segment_freed},
    {"oom", MemoryEvent::out_of_memory},
}};

const char* action_name(MemoryEvent event) {
  return std::find_if(kActions.begin(), kActions.end(),
                      [&](const auto& action) { return action.second == event; })
      ->first;
}

// Levels of stacks, with their names in torch.cuda.memory; None is `nothing`.
StacksOf stacks_of(const std::optional<std::string>& context) {
  if (!context) return StacksOf::nothing;
  return *context == "state"   ? StacksOf::blocks
         : *context == "alloc" ? StacksOf::allocations
                               : StacksOf::all;
}

void record(size_t entries, const std::string& stacks, const std::optional<std::string>& context,
            const std::vector<std::string>& skipped, bool clear) {
  HistoryOptions options{entries, stacks == "all" ? Stacks::all : Stacks::python,
                         stacks_of(context)};
  for (const auto& [name, event] : kActions) {
    if (std::find(skipped.begin(), skipped.end(), name) != skipped.end())
      options.skipped.push_back(event);
  }
  record_history(std::move(options), clear);
}

uintptr_t address(const void* memory) { return reinterpret_cast<uintptr_t>(memory); }

py::dict segment_entry(int device, const SegmentView& segment, Frames& frames) {
  size_t allocated = 0, active = 0, requested = 0;
  py::list blocks;
  for (const BlockView& block : segment.blocks) {
    const bool used = block.state == BlockState::used;
    if (used) allocated += block.bytes, requested += block.requested;
    if (used || block.state == BlockState::waiting) active += block.bytes;
    py::dict entry;
    entry["address"] = address(block.memory);
    entry["size"] = block.bytes;
    entry["requested_size"] = block.requested;
    entry["state"] = state_name(block.state);
    frames.add(entry, used ? stack_of(block.memory) : nullptr);
    blocks.append(entry);
  }
  py::dict entry;
  entry["device"] = device;
  entry["address"] = address(segment.memory);
  entry["total_size"] = segment.bytes;
  entry["stream"] = segment.stream;
  entry["segment_type"] = segment.small ? "small" : "large";
  entry["segment_pool_id"] = py::make_tuple(0, 0);
  entry["is_expandable"] = false;
  entry["allocated_size"] = allocated;
  entry["active_size"] = active;
  entry["requested_size"] = requested;
  entry["blocks"] = blocks;
  entry["frames"] = py::list();
  return entry;
}

py::dict trace_entry(const HistoryEntry& recorded, Frames& frames) {
  const MemoryNews& news = recorded.news;
  py::dict entry;
  entry["action"] = action_name(news.event);
  entry[news.event == MemoryEvent::out_of_memory ? "device_free" : "addr"] = address(news.memory);
  entry["size"] = news.bytes;
  entry["stream"] = news.stream;
  entry["pool_id"] = py::make_tuple(0, 0);
  entry["time_us"] = recorded.microseconds;
  frames.add(entry, recorded.stack);
  return entry;
}

py::dict snapshot() {
  Frames frames;
  py::list segments, traces;
  for (int device = 0; device < device_count(); ++device) {
    for (const SegmentView& segment : segments_of(device))
      segments.append(segment_entry(device, segment, frames));
    py::list trace;
    for (const HistoryEntry& entry : history_of(device)) trace.append(trace_entry(entry, frames));
    traces.append(trace);
  }
  frames.fill_in();
  using Config = c10::CachingAllocator::AcceleratorAllocatorConfig;
  py::dict settings;
  settings["PYTORCH_ALLOC_CONF"] = Config::last_allocator_settings();
  settings["max_split_size"] = Config::max_split_size();
  settings["garbage_collection_threshold"] = Config::garbage_collection_threshold();
  settings["expandable_segments"] = false;
  py::dict result;
  result["segments"] = segments;
  result["device_traces"] = traces;
  result["allocator_settings"] = settings;
  return result;
}

}  // namespace

void bind_memory(py::module_& m) {
  m.def("set_memory_fraction", &set_memory_fraction, py::arg("index"), py::arg("fraction"));
  m.def("memory_fraction", &memory_fraction, py::arg("index"));
  m.def("is_capturing", &is_capturing, py::arg("index"),
        "Return True if the current stream of a device is capturing a graph.");
  m.def(
      "allocate_raw", [](size_t bytes, int index) { return address(allocate_raw(bytes, index)); },
      py::arg("bytes"), py::arg("index"), "Allocate a block and return its address.");
  m.def(
      "free_raw", [](uintptr_t memory) { free_raw(reinterpret_cast<void*>(memory)); },
      py::arg("address"));
  m.def("memory_snapshot", &snapshot,
        "Segments, their blocks, and the recorded history, as torch.cuda.memory._snapshot().");
  m.def("record_memory_history", &record, py::arg("entries"), py::arg("stacks"), py::arg("context"),
        py::arg("skipped"), py::arg("clear"));
  m.def("memory_actions", [] {
    std::vector<std::string> names;
    for (const auto& [name, event] : kActions) names.emplace_back(name);
    return names;
  });
  m.def("stop_memory_history", &stop_recording);
  m.def(
      "start_memory_check",
      [](bool stacks, bool every_operator) { start_memory_check({stacks, every_operator}); },
      py::arg("stacks"), py::arg("every_operator"), "Before activate().");
  m.def("checks_memory", &checks_memory);
  m.def("check_memory", &check_memory,
        "Check all memory and return the errors found since the start.");
  m.def("prepare_leak_report", &prepare_leak_report);
}

}  // namespace dl::core
