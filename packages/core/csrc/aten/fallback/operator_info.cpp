#include "aten/fallback/operator_info.h"

#include <ATen/core/enum_tag.h>

#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "aten/fallback/fallback_reason.h"
#include "calls/call.h"

namespace dl::core {
namespace {

std::mutex mutex;
std::unordered_map<const c10::FunctionSchema*, std::unique_ptr<OperatorInfo>>& table() {
  static auto* map =
      new std::unordered_map<const c10::FunctionSchema*, std::unique_ptr<OperatorInfo>>;
  return *map;
}

bool starts_with(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

// Batch normalization updates its running statistics, which this schema does not declare.
bool writes_silently(const std::string& op, const std::string& argument) {
  return (op == "native_batch_norm" || op == "native_batch_norm.out") &&
         (argument == "running_mean" || argument == "running_var");
}

// Returns the site of the kernel that implements an overload, or NULL.
const Site* site_of(const std::string& overload) {
  static const auto* const by_form = [] {
    auto* map = new std::unordered_map<std::string_view, const Site*>;
    for (const Site* site : sites()) {
      for (const char* form : site->forms) map->emplace(form, site);
    }
    return map;
  }();
  const auto found = by_form->find(overload);
  return found == by_form->end() ? nullptr : found->second;
}

std::unique_ptr<OperatorInfo> make(const c10::OperatorHandle& op) {
  auto info = std::make_unique<OperatorInfo>();
  const auto& schema = op.schema();
  info->name = c10::toString(op.operator_name());
  info->is_torchs = starts_with(info->name, "aten::");
  if (info->is_torchs) {
    info->name.erase(0, 6);
    info->site = site_of(info->name);
  }
  info->random = op.hasTag(at::Tag::nondeterministic_seeded);
  bool indexes = false;
  for (const char* prefix : {"index.Tensor", "index_put", "_index_put_impl_", "_unsafe_index"}) {
    indexes |= starts_with(info->name, prefix);
  }
  // For these operators torch does not bump the versions of tensors in lists, nor of quantization
  // observers.
  info->silent = starts_with(info->name, "_fused_");
  info->whole_storage = starts_with(info->name, "as_strided");
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const auto& argument = schema.arguments()[i];
    const bool declared = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
    const bool silent = writes_silently(info->name, argument.name());
    info->silent |= silent;
    info->writes.push_back(declared || silent);
    info->mutates |= info->writes.back();
    if (indexes && argument.name() == "indices") info->cpu_indices = static_cast<int>(i);
    if (argument.type()->str().find("Generator") != std::string::npos)
      info->generator_index = static_cast<int>(i);
  }
  return info;
}

template <typename Part>
uint64_t sum_of_reasons(const OperatorInfo& info, Part part) {
  uint64_t sum = 0;
  for (const FallbackReason* each = info.reasons.load(); each != nullptr; each = each->next)
    sum += part(*each);
  return sum;
}

}  // namespace

uint64_t OperatorInfo::calls() const {
  return sum_of_reasons(*this, [](const FallbackReason& x) { return x.calls_since_reset(); });
}

uint64_t OperatorInfo::nanoseconds() const {
  return sum_of_reasons(*this, [](const FallbackReason& x) { return x.nanoseconds_since_reset(); });
}

OperatorInfo& operator_info(const c10::OperatorHandle& op) {
  // Schemas do not move while their operator is registered.
  const c10::FunctionSchema* key = &op.schema();
  thread_local std::unordered_map<const c10::FunctionSchema*, OperatorInfo*> cache;
  OperatorInfo*& cached = cache[key];
  if (C10_LIKELY(cached != nullptr)) return *cached;
  const std::lock_guard<std::mutex> guard(mutex);
  auto& slot = table()[key];
  if (slot == nullptr) slot = make(op);
  cached = slot.get();
  return *cached;
}

std::vector<OperatorInfo*> known_operators() {
  const std::lock_guard<std::mutex> guard(mutex);
  std::vector<OperatorInfo*> result;
  for (const auto& [schema, info] : table()) result.push_back(info.get());
  return result;
}

}  // namespace dl::core
