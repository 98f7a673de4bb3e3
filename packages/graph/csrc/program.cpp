#include "program.h"

#include "fields.h"

namespace dl::graph {
namespace {

constexpr int kPoison = 0xFF;  // NaN in every floating-point dtype, and -1

}  // namespace

Program::Program(const Device& device, const Entry& entry, Concrete sized, Plan plan, Tiling tiling,
                 std::deque<dl_generator_prefix_t>& generators)
    : device_(device),
      entry_(entry),
      sized_(std::move(sized)),
      plan_(std::move(plan)),
      tiling_(std::move(tiling)),
      viewing_(entry.storages.size()),
      written_(entry.storages.size(), false),
      outputs_(entry.storages.size()),
      binder_(device, sized_.sizes, generators) {
  for (size_t i = 0; i < entry.values.size(); ++i) {
    const View& view = entry.values[i];
    const ConcreteView& concrete = sized_.views[i];
    Handle& made = handles_.emplace_back(handle_ops(), view.dtype, concrete.shape, concrete.strides,
                                         concrete.offset, sized_.bytes[view.storage], diopi_device,
                                         device.target().device);
    viewing_[view.storage].push_back(&made);
  }
  for (size_t i = 0; i < entry.storages.size(); ++i) {
    if (entry.storages[i].kind != StorageKind::kOutput) continue;
    outputs_[i] = DeviceMemory(device, static_cast<uint64_t>(sized_.bytes[i]));
    place(i, outputs_[i].data());
  }
  bind(generators);
}

void Program::bind(std::deque<dl_generator_prefix_t>& generators) {
  calls_.resize(entry_.calls.size());
  groups_.resize(entry_.calls.size());
  for (size_t number = 0; number < entry_.calls.size(); ++number) {
    const Call& call = entry_.calls[number];
    each_tensor(call, [&](size_t, const Parameter& parameter, size_t value) {
      if (parameter.direction != Direction::kIn) written_[entry_.values[value].storage] = true;
    });
    const Group* const group = tiling_.group_of(number);
    if (group == nullptr) {
      calls_[number] = within(call_text(entry_, number), [&] {
        return binder_.bind(call, [&](size_t value) -> Handle& { return handles_[value]; });
      });
    } else if (group->first == number) {
      groups_[number] = std::make_unique<Blocks>(device_, entry_, sized_, *group, generators);
    }
  }
}

void Program::place(size_t storage, void* memory) {
  for (Handle* each : viewing_[storage]) each->move_to(memory);
}

void Program::place_temporaries(char* arena) {
  arena_ = arena;
  for (size_t i = 0; i < entry_.storages.size(); ++i) {
    if (entry_.storages[i].kind != StorageKind::kTemp) continue;
    place(i, plan_.offsets[i] < 0 || sized_.bytes[i] == 0 ? nullptr : arena + plan_.offsets[i]);
  }
}

void Program::run(Context& context) {
  const diopiContextHandle_t ctx = context.handle();
  for (size_t number = 0; number < calls_.size(); ++number) {
    if (groups_[number] != nullptr) {
      groups_[number]->run(handles_);
      number = groups_[number]->group().last;
      continue;
    }
    device_.make_current();
    context.begin_call();
    const Bound& bound = calls_[number];
    const diopiError_t code = bound.invoke(bound.function, ctx, bound.values);
    if (code != diopiSuccess) throw call_failure(device_, entry_, number, code, context);
  }
}

void Program::poison() {
  if (arena_ != nullptr) device_.fill(arena_, kPoison, static_cast<uint64_t>(plan_.bytes));
  for (const DeviceMemory& each : outputs_) device_.fill(each.data(), kPoison, each.bytes());
  for (const std::unique_ptr<Blocks>& group : groups_)
    if (group != nullptr) group->poison(kPoison);
}

dl_contract_tensor_t Program::tensor(size_t value) {
  const ConcreteView& view = sized_.views[value];
  const dl_tensor_prefix_t& prefix = *handles_[value].prefix();
  return {sizeof(dl_contract_tensor_t),
          view.numel == 0 ? nullptr : prefix.data,
          static_cast<uint64_t>(view.end - view.begin),
          prefix.sizes,
          prefix.strides,
          prefix.ndim,
          prefix.dtype,
          prefix.device};
}

}  // namespace dl::graph
