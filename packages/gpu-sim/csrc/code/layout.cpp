// Layout of a routine's registers, parameters and variables.

#include <algorithm>

#include "decoder.h"

namespace sim {
namespace {

// Gap between two shared variables, in which every access is an error.
constexpr uint64_t kGap = 64;

uint64_t aligned(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

}  // namespace

void Decoder::lay_out() {
  for (const Type type : code_.routine->register_types) {
    register_places_.push_back(code_.frame_bytes | kInFrame);
    // A predicate is one word with a bit for each lane.
    code_.frame_bytes +=
        type.kind == Kind::kPredicate ? 4 : kLanes * std::max<uint32_t>(type.bytes, 2);
  }
  // Align the frame, because pairs of values are moved as vectors.
  code_.frame_bytes = static_cast<uint32_t>(aligned(code_.frame_bytes, 64));
  const auto parameter = [this](const Variable& variable) {
    const uint64_t offset = aligned(code_.param_bytes, variable.align);
    offsets_[&variable] = offset;
    code_.param_bytes = static_cast<uint32_t>(offset + variable.bytes);
    return std::make_pair(offset, static_cast<uint32_t>(variable.bytes));
  };
  for (const Variable& each : code_.routine->parameters)
    code_.parameters.push_back(parameter(each));
  for (const Variable& each : code_.routine->results) code_.results.push_back(parameter(each));
  for (const Scope& scope : code_.routine->scopes) {
    for (const auto& [name, variable] : scope.variables) {
      if (variable.space == Space::kParam) parameter(variable);
      if (variable.space == Space::kLocal) {
        const uint64_t offset =
            aligned(image_.local_extent, std::max<uint64_t>(variable.align, 16));
        offsets_[&variable] = offset;
        image_.local.push_back({offset, variable.bytes, std::string(name)});
        image_.local_extent = static_cast<uint32_t>(offset + variable.bytes + kGap);
        code_.has_local = true;
      }
    }
  }
}

const Variable* Decoder::variable(std::string_view name) const {
  for (int at = statement_->scope; at >= 0;) {
    const Scope& scope = code_.routine->scopes[static_cast<size_t>(at)];
    const auto found = scope.variables.find(name);
    if (found != scope.variables.end()) return &found->second;
    at = scope.parent;
  }
  for (const auto* list : {&code_.routine->parameters, &code_.routine->results})
    for (const Variable& each : *list)
      if (each.name == name) return &each;
  for (const Variable& each : image_.module->variables)
    if (each.name == name) return &each;
  return nullptr;
}

uint64_t Decoder::shared_address(const Variable& variable) {
  if (variable.open || (variable.external && variable.bytes == 0)) {
    image_.uses_dynamic = true;
    return kDynamicShared;
  }
  const auto found = image_.shared_of.find(variable.name);
  if (found != image_.shared_of.end()) return found->second;
  const uint64_t packed = aligned(image_.static_shared, variable.align) + variable.bytes;
  const uint64_t offset = aligned(image_.shared_extent + (image_.shared.empty() ? 0 : kGap),
                                  std::max<uint64_t>(variable.align, 16));
  if (offset + variable.bytes > kDynamicShared) refuse("too much shared memory");
  image_.static_shared = static_cast<uint32_t>(packed);
  image_.shared_extent = static_cast<uint32_t>(offset + variable.bytes);
  image_.shared.push_back({offset, variable.bytes, std::string(variable.name)});
  return image_.shared_of[variable.name] = offset;
}

bool Decoder::symbol(const Operand& operand, uint64_t& value) {
  const Variable* found = variable(operand.name);
  if (found == nullptr) {
    const auto routine = image_.module->routine_of.find(operand.name);
    if (routine == image_.module->routine_of.end()) return false;
    value = kFunctionWindow + static_cast<uint64_t>(routine->second);
    return true;
  }
  switch (found->space) {
    case Space::kShared:
      value = shared_address(*found);
      break;
    case Space::kLocal:
      value = offsets_.at(found);
      break;
    case Space::kParam:
      value =
          offsets_.at(found) + (code_.routine->entry && is_parameter(*found) ? 0 : kFrameParams);
      break;
    default:
      value = symbols_.address_of(operand.name);
      if (value == 0) refuse("'" + std::string(operand.name) + "' is declared, but not defined");
  }
  value += operand.bits;
  return true;
}

bool Decoder::is_parameter(const Variable& variable) const {
  const auto& all = code_.routine->parameters;
  return !all.empty() && &variable >= all.data() && &variable < all.data() + all.size();
}

std::pair<uint64_t, uint32_t> Decoder::parameter(const Operand& operand) const {
  const Variable* found = operand.form == Operand::Form::kName ? variable(operand.name) : nullptr;
  if (found == nullptr || found->space != Space::kParam)
    refuse("only .param variables are supported as arguments");
  return {offsets_.at(found), static_cast<uint32_t>(found->bytes)};
}

int32_t Decoder::callee(std::string_view name) {
  Type type;
  uint32_t place = 0;
  if (find_register(name, type, place)) return -1;
  const auto found = image_.module->routine_of.find(name);
  if (found == image_.module->routine_of.end())
    refuse("unknown function '" + std::string(name) + "'");
  if (image_.module->routines[static_cast<size_t>(found->second)].entry)
    refuse("'" + std::string(name) + "' is a kernel");
  if (!image_.module->routines[static_cast<size_t>(found->second)].defined)
    refuse("'" + std::string(name) + "' is declared, but not defined");
  return found->second;
}

bool Decoder::kernel_parameter(const Operand& operand, uint64_t& offset) const {
  const Variable* found = operand.name.empty() ? nullptr : variable(operand.name);
  if (found == nullptr || !code_.routine->entry || !is_parameter(*found)) return false;
  offset = offsets_.at(found) + operand.bits;
  return offset < code_.param_bytes && operand.bits < found->bytes &&
         found->bytes - operand.bits >= out.bytes;
}

}  // namespace sim
