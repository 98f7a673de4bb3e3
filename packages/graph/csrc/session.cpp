#include "session.h"

#include <algorithm>

#include "dl/dtype.h"
#include "fields.h"
#include "verify.h"

namespace dl::graph {
namespace {

constexpr size_t kMostPrograms = 64;
constexpr int64_t kByteStride[] = {1};

std::string shape_text(const int64_t* sizes, size_t count) {
  std::string text = "[";
  for (size_t d = 0; d < count; ++d) text += (d == 0 ? "" : ", ") + std::to_string(sizes[d]);
  return text + "]";
}

bool aligned(const void* memory, int64_t item) {
  return reinterpret_cast<uintptr_t>(memory) % static_cast<uintptr_t>(item) == 0;
}

// Returns true if an input that the entry writes shares memory with another input. Blocks require
// disjoint storages; calls that run whole, one after the other, do not.
bool inputs_overlap(const Entry& entry, const Program& program, const dl_contract_tensor_t* inputs,
                    size_t count) {
  struct Range {
    const char* begin;
    const char* end;
    bool written;
  };
  std::vector<Range> ranges;
  for (size_t i = 0; i < count; ++i) {
    const auto* const begin = static_cast<const char*>(inputs[i].data);
    const size_t storage = entry.values[entry.inputs[i].value].storage;
    ranges.push_back({begin, begin + inputs[i].bytes, program.writes_input(storage)});
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  const char* reach = nullptr;          // end of all inputs before
  const char* written_reach = nullptr;  // end of the written inputs before
  for (const Range& each : ranges) {
    if (each.begin == each.end) continue;
    if (each.begin < written_reach || (each.written && each.begin < reach)) return true;
    reach = std::max(reach, each.end);
    if (each.written) written_reach = std::max(written_reach, each.end);
  }
  return false;
}

}  // namespace

Session::Session(const Graph& graph, const dl_contract_target_t& target)
    : graph_(graph),
      device_(target),
      context_(device_),
      slots_(graph.entries.size()),
      programs_(graph.entries.size()) {
  for (size_t i = 0; i < graph.generators.size(); ++i)
    generators_.push_back(
        {DL_GENERATOR_MAGIC, DL_PREFIX_VERSION, &handle_ops(), 0, 0, target.device, 0});
  for (const Constant& constant : graph.constants) {
    const FileTensor& tensor = constant.tensor;
    // The graph keeps the file in memory, so constants are used there if the device can.
    const bool in_place =
        device_.can(DL_CAP_ANY_HOST_POINTER) && aligned(tensor.data, dl_dtype_bytes(tensor.dtype));
    constants_.emplace_back(device_, in_place ? 0 : tensor.bytes);
    if (!in_place)
      device_.copy(constants_.back().data(), tensor.data, tensor.bytes, DL_COPY_HOST_TO_DEVICE);
    constant_data_.push_back(in_place ? const_cast<unsigned char*>(tensor.data)
                                      : static_cast<void*>(constants_.back().data()));
  }
  for (const State& state : graph.states) {
    states_.emplace_back(device_, static_cast<uint64_t>(state.bytes));
    state_sizes_.push_back(state.bytes);
  }
  for (size_t entry = 0; entry < graph.entries.size(); ++entry) {
    slots_[entry].memory.resize(graph.entries[entry].inputs.size());
    // Look up all operators now: a missing one must fail the opening of the session, not a run.
    for (size_t number = 0; number < graph.entries[entry].calls.size(); ++number) {
      const Operator& called = *graph.entries[entry].calls[number].called;
      within(call_text(graph.entries[entry], number),
             [&] { device_.function(called.name, called.fingerprint); });
    }
  }
  reset();
  // Wait only if needed, so that a graph without copies can be opened on a capturing stream.
  if (!graph.constants.empty() || !graph.states.empty()) context_.synchronize();
}

Session::~Session() {
  try {
    context_.synchronize();
  } catch (const std::exception&) {
    // The error has been reported with the results. The memory is freed in any case.
    programs_.clear();
  }
}

void Session::reset() {
  for (size_t i = 0; i < graph_.states.size(); ++i) {
    const State& state = graph_.states[i];
    if (state.initial < 0) {
      device_.fill(states_[i].data(), 0, states_[i].bytes());
    } else {
      const FileTensor& from = graph_.constants[static_cast<size_t>(state.initial)].tensor;
      device_.copy(states_[i].data(), from.data, from.bytes, DL_COPY_HOST_TO_DEVICE);
    }
  }
}

Sizes Session::sizes_of(const Entry& entry, const dl_contract_tensor_t* inputs,
                        const dl_contract_size_t* sizes, size_t size_count) const {
  Sizes out(entry.symbols.size(), -1);
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    const View& view = entry.values[entry.inputs[i].value];
    const dl_contract_tensor_t& given = inputs[i];
    within("entry " + entry.name + ", input " + entry.inputs[i].name, [&] {
      if (given.dtype != view.dtype)
        throw Failure(std::string("it has to be ") + dtype_text(view.dtype));
      if (given.ndim != static_cast<int64_t>(view.shape.size()))
        throw Failure("it has " + std::to_string(given.ndim) + " dimensions, not " +
                      std::to_string(view.shape.size()));
      for (size_t d = 0; d < view.shape.size(); ++d) {
        const int64_t symbol = view.shape[d].symbol();
        if (symbol >= 0 && out[static_cast<size_t>(symbol)] < 0)
          out[static_cast<size_t>(symbol)] = given.sizes[d];
      }
    });
  }
  for (const size_t symbol : entry.passed) {
    const Symbol& wanted = entry.symbols[symbol];
    const auto* const found = std::find_if(sizes, sizes + size_count, [&](const auto& each) {
      return each.name != nullptr && wanted.name == each.name;
    });
    if (found == sizes + size_count)
      throw Failure("entry " + entry.name + " needs the size " + wanted.name +
                    ", which is not a size of any input; pass it by name");
    out[symbol] = found->value;
  }
  if (size_count != entry.passed.size())
    throw Failure("entry " + entry.name + " takes " + std::to_string(entry.passed.size()) +
                  " sizes by name, not " + std::to_string(size_count));
  return out;
}

void Session::forget_oldest(Programs& programs) {
  if (programs.size() < kMostPrograms) return;
  context_.synchronize();  // work on its outputs may still be running
  programs.erase(std::min_element(
      programs.begin(), programs.end(),
      [](const auto& a, const auto& b) { return a.second->used < b.second->used; }));
}

Tiling Session::tiling_of(const Entry& entry, const Concrete& sized, bool whole) const {
  // Blocks are for host caches. They move handles, which an asynchronous device may still read, and
  // cut storages into parts without padding.
  const bool serves = device_.can(DL_CAP_HOST_ACCESSIBLE) && device_.can(DL_CAP_SYNCHRONOUS) &&
                      device_.padding() == 0 && (device_.target().flags & DL_CONTRACT_WHOLE) == 0;
  const bool always = (device_.target().flags & DL_CONTRACT_BLOCKS) != 0;
  const When when = always ? When::kAlways : When::kFaster;
  return whole || !serves ? Tiling() : make_tiling(entry, sized, cache_bytes(), when);
}

Program& Session::program(size_t number, const Sizes& sizes, bool whole) {
  auto& programs = programs_[number];
  const auto found = programs.find({sizes, whole});
  if (found != programs.end()) return *found->second;
  const Entry& entry = graph_.entries[number];
  Concrete sized = concrete(entry, sizes);
  verify_sizes(entry, sized);
  Tiling tiling = tiling_of(entry, sized, whole);
  const bool tiled = !tiling.groups.empty();
  const auto padding = static_cast<int64_t>(device_.padding());
  const Lifetimes lifetimes(entry, sized, tiled ? &tiling : nullptr, padding);
  const auto stored = std::find_if(entry.plans.begin(), entry.plans.end(),
                                   [&](const StoredPlan& each) { return each.sizes == sizes; });
  // A stored plan is valid only for calls that run whole, one after the other, and has no padding.
  const bool planned = !tiled && padding == 0 && stored != entry.plans.end();
  Plan plan = planned ? plan_of(*stored) : make_plan(lifetimes);
  check_plan(entry, sized, lifetimes, plan);
  forget_oldest(programs);
  auto made = std::make_unique<Program>(device_, entry, std::move(sized), std::move(plan),
                                        std::move(tiling), generators_);
  place_shared(entry, *made);
  return *(programs[{sizes, whole}] = std::move(made));
}

void Session::place_shared(const Entry& entry, Program& made) {
  for (size_t i = 0; i < entry.storages.size(); ++i) {
    const Storage& storage = entry.storages[i];
    if (storage.kind == StorageKind::kConstant) made.place(i, constant_data_[storage.shared]);
    if (storage.kind == StorageKind::kState) made.place(i, states_[storage.shared].data());
  }
}

void Session::grow_arena(int64_t bytes) {
  if (arena_.bytes() >= static_cast<uint64_t>(bytes)) return;
  if (arena_.bytes() != 0) context_.synchronize();  // the old block may still be in use
  arena_ = DeviceMemory();
  arena_ = DeviceMemory(device_, static_cast<uint64_t>(bytes));
}

void* Session::input_memory(const Port& port, const dl_contract_tensor_t& input, uint64_t bytes,
                            int64_t item, DeviceMemory& slot) {
  if (input.bytes != bytes || (input.data == nullptr && bytes != 0))
    throw Failure("input " + port.name + " has " + std::to_string(input.bytes) + " bytes, not " +
                  std::to_string(bytes));
  if (input.device == diopi_device) return input.data;
  if (device_.can(DL_CAP_ANY_HOST_POINTER) && aligned(input.data, item)) return input.data;
  if (slot.bytes() != bytes) {
    context_.synchronize();  // until the old one is unused
    slot = DeviceMemory(device_, bytes);
  }
  device_.copy(slot.data(), input.data, bytes, DL_COPY_HOST_TO_DEVICE);
  return slot.data();
}

void Session::run(size_t number, const dl_contract_tensor_t* inputs, size_t input_count,
                  const dl_contract_size_t* sizes, size_t size_count, dl_contract_tensor_t* outputs,
                  size_t output_count) {
  const Entry& entry = graph_.entries[number];
  if (input_count != entry.inputs.size() || output_count != entry.outputs.size())
    throw Failure("entry " + entry.name + " has " + std::to_string(entry.inputs.size()) +
                  " inputs and " + std::to_string(entry.outputs.size()) + " outputs");
  const Sizes tuple = sizes_of(entry, inputs, sizes, size_count);
  Program* chosen = &program(number, tuple, false);
  if (chosen->is_tiled() && inputs_overlap(entry, *chosen, inputs, input_count))
    chosen = &program(number, tuple, true);
  Program& found = *chosen;
  found.used = ++runs_;
  grow_arena(found.arena_bytes());
  if (found.arena() != arena_.data()) found.place_temporaries(arena_.data());
  bool writes_back = false;
  for (size_t i = 0; i < input_count; ++i) {
    const size_t value = entry.inputs[i].value;
    const size_t storage = entry.values[value].storage;
    const ConcreteView& view = found.sized().views[value];
    if (!std::equal(view.shape.begin(), view.shape.end(), inputs[i].sizes))
      throw Failure("entry " + entry.name + ", input " + entry.inputs[i].name + " has the shape " +
                    shape_text(inputs[i].sizes, view.shape.size()) + ", not " +
                    shape_text(view.shape.data(), view.shape.size()));
    void* memory = input_memory(entry.inputs[i], inputs[i],
                                static_cast<uint64_t>(found.sized().bytes[storage]), view.item,
                                slots_[number].memory[i]);
    found.place(storage, memory);
    writes_back = writes_back || (found.writes_input(storage) && memory != inputs[i].data);
  }
  if ((device_.target().flags & DL_CONTRACT_POISON) != 0) found.poison();
  found.run(context_);
  if (writes_back) {
    for (size_t i = 0; i < input_count; ++i) {
      const size_t storage = entry.values[entry.inputs[i].value].storage;
      const dl_contract_tensor_t now = found.tensor(entry.inputs[i].value);
      if (found.writes_input(storage) && now.data != inputs[i].data)
        device_.copy(inputs[i].data, now.data, inputs[i].bytes, DL_COPY_DEVICE_TO_HOST);
    }
    context_.synchronize();
  }
  for (size_t i = 0; i < output_count; ++i) outputs[i] = found.tensor(entry.outputs[i].value);
}

void Session::read(const dl_contract_tensor_t& tensor, void* memory, uint64_t bytes) {
  if (bytes > tensor.bytes)
    throw Failure("the tensor has " + std::to_string(tensor.bytes) + " bytes, not " +
                  std::to_string(bytes));
  device_.copy(memory, tensor.data, bytes, DL_COPY_DEVICE_TO_HOST);
  context_.synchronize();
}

dl_contract_tensor_t Session::state(const std::string& name) {
  for (size_t i = 0; i < graph_.states.size(); ++i)
    if (graph_.states[i].name == name)
      return {sizeof(dl_contract_tensor_t),
              states_[i].data(),
              states_[i].bytes(),
              &state_sizes_[i],
              kByteStride,
              1,
              diopi_dtype_uint8,
              diopi_device};
  throw Failure("the graph has no state " + shown(name));
}

dl_generator_prefix_t* Session::generator(const std::string& name) {
  for (size_t i = 0; i < graph_.generators.size(); ++i)
    if (graph_.generators[i] == name) return &generators_[i];
  throw Failure("the graph has no generator " + shown(name));
}

}  // namespace dl::graph
