#include "graph/program.h"

#include "graph/fields.h"

namespace dl::graph {
namespace {

constexpr int kPoison = 0xFF;  // NaN in every floating-point dtype, and -1

}  // namespace

Program::Program(const Device& device, const Entry& entry, Concrete sized, Plan plan,
                 std::deque<dl_generator_prefix_t>& generators)
    : device_(device),
      entry_(entry),
      sized_(std::move(sized)),
      plan_(std::move(plan)),
      viewing_(entry.storages.size()),
      written_(entry.storages.size(), false),
      outputs_(entry.storages.size()) {
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
  for (size_t number = 0; number < entry.calls.size(); ++number)
    within(call_text(entry, number), [&] { bind(entry.calls[number], generators); });
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

void Program::bind(const Call& call, std::deque<dl_generator_prefix_t>& generators) {
  Bound bound;
  bound.invoke = invoke_of(*call.called);
  bound.function = device_.function(call.called->name, call.called->fingerprint);
  std::vector<void*> values(1, nullptr);
  for (size_t place = 0; place < call.called->count; ++place)
    values.push_back(kept(slot(call, place, generators)));
  each_tensor(call, [&](size_t, const Parameter& parameter, size_t value) {
    if (parameter.direction != Direction::kIn) written_[entry_.values[value].storage] = true;
  });
  bound.values = arrays_.emplace_back(std::move(values)).data();
  calls_.push_back(bound);
}

diopiSize_t Program::sizes(const Argument& argument) {
  // One more than needed: an empty list is not NULL, which would mean "not given".
  std::vector<int64_t>& list = lists_.emplace_back();
  for (const Expression& each : argument.sizes) list.push_back(each.value(sized_.sizes));
  list.push_back(0);
  return {list.data(), static_cast<int64_t>(argument.sizes.size())};
}

Program::Slot Program::slot(const Call& call, size_t place,
                            std::deque<dl_generator_prefix_t>& generators) {
  const Parameter& parameter = call.called->parameter(place);
  const Argument& argument = call.arguments[place];
  Slot out{};
  const auto handle = [&](int64_t value) -> void* {
    return value < 0 ? nullptr : handles_[static_cast<size_t>(value)].handle();
  };
  const auto generator = [&](int64_t number) -> void* {
    return &generators[static_cast<size_t>(number)];
  };
  const auto array = [&](const auto& entry_of) -> void* {
    std::vector<void*>& list = arrays_.emplace_back();
    for (const int64_t each : argument.places) list.push_back(entry_of(each));
    list.push_back(nullptr);
    return list.data();
  };
  if (parameter.type == Type::kCount) {
    for (size_t other = 0; other < call.called->count; ++other)
      if (call.called->parameter(other).counted_by == static_cast<int16_t>(place))
        out.int64 = std::max(out.int64, static_cast<int64_t>(call.arguments[other].places.size()));
    return out;
  }
  // All that may be absent is a pointer, or a list whose absence is NULL data.
  if (argument.null) return out;
  const auto pointed = [&](Slot value) { out.pointer = kept(value); };
  const auto number = [&] { return argument.sizes[0].value(sized_.sizes); };
  Slot value{};
  switch (parameter.type) {
    case Type::kTensor:
      out.pointer = handle(argument.places[0]);
      break;
    case Type::kTensors:
      out.pointer = array(handle);
      break;
    case Type::kGenerator:
      out.pointer = generator(argument.places[0]);
      break;
    case Type::kGenerators:
      out.pointer = array(generator);
      break;
    case Type::kInt64:
      out.int64 = number();
      break;
    case Type::kInt32:
      out.int32 = static_cast<int32_t>(number());
      break;
    case Type::kFloat:
      out.float32 = static_cast<float>(argument.number);
      break;
    case Type::kDouble:
      out.float64 = argument.number;
      break;
    case Type::kBool:
      out.boolean = argument.number != 0;
      break;
    case Type::kSize:
      out.size = sizes(argument);
      break;
    case Type::kSizePointer:
      value.size = sizes(argument);
      pointed(value);
      break;
    case Type::kInt64Pointer:
      value.int64 = number();
      pointed(value);
      break;
    case Type::kDoublePointer:
      value.float64 = argument.number;
      pointed(value);
      break;
    case Type::kBoolPointer:
      value.boolean = argument.number != 0;
      pointed(value);
      break;
    case Type::kScalar:
      value.scalar.stype = static_cast<diopiDtype_t>(argument.dtype);
      if (argument.floating) {
        value.scalar.fval = argument.number;
      } else {
        value.scalar.ival = number();
      }
      pointed(value);
      break;
    case Type::kString:
      out.pointer = const_cast<char*>(argument.word.c_str());
      break;
    case Type::kMemoryFormat:
      out.memory_format = static_cast<diopiMemoryFormat_t>(argument.number);
      break;
    case Type::kReduction:
      out.reduction = static_cast<diopiReduction_t>(argument.number);
      break;
    case Type::kRoundMode:
      out.round_mode = static_cast<diopiRoundMode_t>(argument.number);
      break;
    case Type::kCount:
    case Type::kRefused:
      break;
  }
  return out;
}

void Program::run(Context& context) {
  const diopiContextHandle_t ctx = context.handle();
  const Bound* const end = calls_.data() + calls_.size();
  for (const Bound* each = calls_.data(); each != end; ++each) {
    device_.make_current();
    context.begin_call();
    const diopiError_t code = each->invoke(each->function, ctx, each->values);
    if (code != diopiSuccess) fail(static_cast<size_t>(each - calls_.data()), code, context);
  }
}

void Program::fail(size_t number, diopiError_t code, Context& context) const {
  const std::string host = context.take_failure();
  throw Failure(
      call_text(entry_, number) + ": " + device_.last_error() + (host.empty() ? "" : "; " + host) +
          " (code " + std::to_string(code) + ")",
      code == diopiNoImplement || code == diopiDtypeNotSupported ? DL_NOT_SUPPORTED : DL_ERROR);
}

void Program::poison() {
  if (arena_ != nullptr) device_.fill(arena_, kPoison, static_cast<uint64_t>(plan_.bytes));
  for (const DeviceMemory& each : outputs_) device_.fill(each.data(), kPoison, each.bytes());
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
