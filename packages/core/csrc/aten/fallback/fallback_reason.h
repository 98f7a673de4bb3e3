// Why an operator runs on the CPU: which contract operator is missing or declined the call, in the
// vendor's own words. Each operator keeps a bounded number of distinct reasons with their counts.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "diopi/functions.h"
#include "runtime/vendor.h"

namespace dl::core {

struct OperatorInfo;

enum class FallbackCause : uint8_t {
  declined,     // the vendor's operator declined the call
  absent,       // the vendor does not have the operator
  mismatched,   // the vendor has the operator with another signature
  unfit,        // dl-core does not pass such a call to the operator
  forced,       // a setting selects the CPU
  fixed_order,  // deterministic algorithms are requested
  composition,  // the operators that dl-core composes it of do not cover such a call
  sparse,       // sparse tensors without a kernel
  no_operator,  // nothing in the contract computes it
  other,        // more reasons than are kept
};
// Name for Python, such as "declined".
const char* name_of(FallbackCause cause);

// The reason of one call. Its text is only formed on request.
struct Explanation {
  FallbackCause cause = FallbackCause::no_operator;
  diopiError_t code = diopiSuccess;  // of `declined`
  const Vendor* vendor = nullptr;
  const char* contract_name = nullptr;  // NULL if no operator of the contract is involved
  const char* words = "";               // the vendor's; valid until its next reason on this thread

  // A clause: "diopiMulScalar declined: int64 scalar is not supported".
  std::string text() const;
};

// A reason that an operator has had, and its calls. Never freed or changed, except for the counts.
struct FallbackReason {
  explicit FallbackReason(const Explanation& explanation);

  bool matches(const Explanation& explanation) const;
  uint64_t calls_since_reset() const { return calls - calls_before_reset; }
  uint64_t nanoseconds_since_reset() const { return nanoseconds - nanoseconds_before_reset; }
  void reset() {
    calls_before_reset = calls.load();
    nanoseconds_before_reset = nanoseconds.load();
  }

  const FallbackCause cause;
  const diopiError_t code;
  const Vendor* const vendor;
  const char* const contract_name;
  const std::string words;
  const std::string text;
  std::atomic<uint64_t> calls{0};
  std::atomic<uint64_t> nanoseconds{0};  // only while operators are profiled
  std::atomic<uint64_t> calls_before_reset{0};
  std::atomic<uint64_t> nanoseconds_before_reset{0};
  FallbackReason* next = nullptr;
};

// Returns why a call of an operator on dense tensors, which begins now, runs on the CPU. Forgets
// what this thread noted about declined calls.
Explanation explain_fallback(const OperatorInfo& info, int device);
// Same, for sparse tensors.
Explanation explain_sparse_fallback(int device);

// Returns the operator's entry for a reason.
FallbackReason& find_reason(OperatorInfo& info, const Explanation& explanation);

}  // namespace dl::core
