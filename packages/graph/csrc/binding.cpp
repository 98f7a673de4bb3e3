#include "binding.h"

#include <algorithm>

namespace dl::graph {

Failure call_failure(const Device& device, const Entry& entry, size_t number, diopiError_t code,
                     Context& context) {
  const std::string host = context.take_failure();
  return Failure(
      call_text(entry, number) + ": " + device.last_error() + (host.empty() ? "" : "; " + host) +
          " (code " + std::to_string(code) + ")",
      code == diopiNoImplement || code == diopiDtypeNotSupported ? DL_NOT_SUPPORTED : DL_ERROR);
}

Bound Binder::bind(const Call& call, const HandleOf& handle_of) {
  Bound bound;
  bound.invoke = invoke_of(*call.called);
  bound.function = device_.function(call.called->name, call.called->fingerprint);
  std::vector<void*> values(1, nullptr);
  for (size_t place = 0; place < call.called->count; ++place)
    values.push_back(kept(slot(call, place, handle_of)));
  bound.values = arrays_.emplace_back(std::move(values)).data();
  return bound;
}

diopiSize_t Binder::list(const Argument& argument) {
  // One element more than needed: an empty list must not be NULL, which means "not given".
  std::vector<int64_t>& kept = lists_.emplace_back();
  for (const Expression& each : argument.sizes) kept.push_back(each.value(sizes_));
  kept.push_back(0);
  return {kept.data(), static_cast<int64_t>(argument.sizes.size())};
}

Binder::Slot Binder::slot(const Call& call, size_t place, const HandleOf& handle_of) {
  const Parameter& parameter = call.called->parameter(place);
  const Argument& argument = call.arguments[place];
  Slot out{};
  const auto handle = [&](int64_t value) -> void* {
    return value < 0 ? nullptr : handle_of(static_cast<size_t>(value)).handle();
  };
  const auto generator = [&](int64_t number) -> void* {
    return &generators_[static_cast<size_t>(number)];
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
  // An optional argument is a pointer, or a list that is absent if its data pointer is NULL.
  if (argument.null) return out;
  const auto pointed = [&](Slot value) { out.pointer = kept(value); };
  const auto number = [&] { return argument.sizes[0].value(sizes_); };
  const auto floating = [&] {
    return argument.sizes.empty() ? argument.number
                                  : static_cast<double>(number()) /
                                        static_cast<double>(argument.sizes[1].value(sizes_));
  };
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
      out.float32 = static_cast<float>(floating());
      break;
    case Type::kDouble:
      out.float64 = floating();
      break;
    case Type::kBool:
      out.boolean = argument.number != 0;
      break;
    case Type::kSize:
      out.size = list(argument);
      break;
    case Type::kSizePointer:
      value.size = list(argument);
      pointed(value);
      break;
    case Type::kInt64Pointer:
      value.int64 = number();
      pointed(value);
      break;
    case Type::kDoublePointer:
      value.float64 = floating();
      pointed(value);
      break;
    case Type::kBoolPointer:
      value.boolean = argument.number != 0;
      pointed(value);
      break;
    case Type::kScalar:
      value.scalar.stype = static_cast<diopiDtype_t>(argument.dtype);
      if (argument.floating) {
        value.scalar.fval = floating();
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

}  // namespace dl::graph
