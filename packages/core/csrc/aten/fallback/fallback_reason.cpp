#include "aten/fallback/fallback_reason.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string_view>

#include "aten/fallback/operator_info.h"
#include "calls/call.h"
#include "calls/decline.h"
#include "runtime/device.h"

namespace dl::core {
namespace {

// Distinct reasons of one operator. Words with sizes or values in them may differ in every call.
constexpr int kMostReasons = 8;

std::mutex adding_reason;

// A vendor's words usually begin with the operator in brackets, which the reason names anyway.
const char* without_name(const char* words, const char* contract_name) {
  const size_t length = std::strlen(contract_name);
  if (words[0] != '[' || std::strncmp(words + 1, contract_name, length) != 0 ||
      words[length + 1] != ']')
    return words;
  words += length + 2;
  return words + (*words == ' ');
}

const char* name_of_code(diopiError_t code) {
  switch (code) {
    case diopiNoImplement:
      return "diopiNoImplement";
    case diopiDtypeNotSupported:
      return "diopiDtypeNotSupported";
    case diopiForceFallbackToCPU:
      return "diopiForceFallbackToCPU";
    case diopi5DNotSupported:
      return "diopi5DNotSupported";
    default:
      return "an unknown code";
  }
}

bool has_mismatched(const Vendor& vendor, const char* contract_name) {
  const auto& names = vendor.mismatched_operators();
  return std::find(names.begin(), names.end(), contract_name) != names.end();
}

Explanation absence(const Vendor& vendor, const char* contract_name) {
  const bool mismatched = has_mismatched(vendor, contract_name);
  return {mismatched ? FallbackCause::mismatched : FallbackCause::absent, diopiSuccess, &vendor,
          contract_name};
}

Explanation of_decline(const Vendor& vendor, const Decline& decline) {
  if (decline.kind == Decline::Kind::fixed_order)
    return {FallbackCause::fixed_order, diopiSuccess, &vendor};
  if (decline.kind == Decline::Kind::absent) return absence(vendor, decline.contract_name);
  const char* const given = vendor.given_reason(decline.contract_name);
  return {FallbackCause::declined, decline.code, &vendor, decline.contract_name,
          given == nullptr ? "" : without_name(given, decline.contract_name)};
}

bool is_bound(const Vendor& vendor, Op op) { return vendor.function(op) != nullptr; }

}  // namespace

const char* name_of(FallbackCause cause) {
  constexpr const char* names[] = {"declined",    "absent",      "mismatched",  "unfit",
                                   "forced",      "fixed_order", "composition", "sparse",
                                   "no_operator", "other"};
  return names[static_cast<size_t>(cause)];
}

std::string Explanation::text() const {
  const std::string name = vendor == nullptr ? "" : vendor->name();
  switch (cause) {
    case FallbackCause::declined:
      return *words != '\0'
                 ? c10::str(contract_name, " declined: ", words)
                 : c10::str(contract_name, " declined without a reason (", name_of_code(code), ")");
    case FallbackCause::absent:
      return c10::str("vendor ", name, " has no ", contract_name);
    case FallbackCause::mismatched:
      return c10::str("vendor ", name, " was built against another contract's ", contract_name);
    case FallbackCause::unfit:
      return c10::str("dl-core does not pass these arguments to ", contract_name);
    case FallbackCause::forced:
      return "DL_FORCE_FALLBACK or force_fallback() selects it";
    case FallbackCause::fixed_order:
      return "torch.use_deterministic_algorithms() requires a fixed order";
    case FallbackCause::composition:
      return "dl-core does not compose it of other operators for these arguments";
    case FallbackCause::sparse:
      return "dl-core has no kernel for these sparse tensors";
    case FallbackCause::no_operator:
      return "no operator of the contract computes it";
    case FallbackCause::other:
      return "further reasons";
  }
  return "";
}

FallbackReason::FallbackReason(const Explanation& explanation)
    : cause(explanation.cause),
      code(explanation.code),
      vendor(explanation.vendor),
      contract_name(explanation.contract_name),
      words(explanation.words),
      text(explanation.text()) {}

bool FallbackReason::matches(const Explanation& explanation) const {
  // Names of the contract are static, but each source file has its own copy.
  const auto same_name = [](const char* a, const char* b) {
    return a == b || (a != nullptr && b != nullptr && std::strcmp(a, b) == 0);
  };
  return cause == explanation.cause && code == explanation.code && vendor == explanation.vendor &&
         same_name(contract_name, explanation.contract_name) && words == explanation.words;
}

Explanation explain_fallback(const OperatorInfo& info, int index) {
  const Vendor& vendor = *device_unchecked(index).vendor;
  const Site* const site = info.site;
  if (const auto decline = take_decline(site)) return of_decline(vendor, *decline);
  if (site == nullptr) {
    const bool composed = info.has_own_kernel.load(std::memory_order_relaxed);
    return {composed ? FallbackCause::composition : FallbackCause::no_operator, diopiSuccess,
            &vendor};
  }
  if (site->disabled.load(std::memory_order_relaxed))
    return {FallbackCause::forced, diopiSuccess, &vendor};
  const auto& operators = site->operators;
  const auto bound = [&vendor](Op op) { return is_bound(vendor, op); };
  const auto found = std::find_if(operators.begin(), operators.end(), bound);
  if (found == operators.end())
    return absence(vendor, kOpNames[static_cast<size_t>(operators.front())]);
  return {FallbackCause::unfit, diopiSuccess, &vendor, kOpNames[static_cast<size_t>(*found)]};
}

Explanation explain_sparse_fallback(int index) {
  take_decline(nullptr);
  return {FallbackCause::sparse, diopiSuccess, device_unchecked(index).vendor};
}

FallbackReason& find_reason(OperatorInfo& info, const Explanation& explanation) {
  const auto find = [&]() -> FallbackReason* {
    FallbackReason* each = info.reasons.load(std::memory_order_acquire);
    while (each != nullptr && !each->matches(explanation)) each = each->next;
    return each;
  };
  if (FallbackReason* const known = find()) return *known;
  const std::lock_guard<std::mutex> guard(adding_reason);
  if (FallbackReason* const known = find()) return *known;
  FallbackReason* const latest = info.reasons.load();
  int count = 0;
  for (const FallbackReason* each = latest; each != nullptr; each = each->next) ++count;
  if (count > kMostReasons) return *latest;
  auto* const made =
      new FallbackReason(count < kMostReasons ? explanation : Explanation{FallbackCause::other});
  made->next = latest;
  info.reasons.store(made, std::memory_order_release);
  return *made;
}

}  // namespace dl::core
