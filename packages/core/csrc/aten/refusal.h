// Vendor errors in torch's words: torch's CPU kernel is called with copies of the arguments, and
// what it raises is raised, with the vendor's own message beside it. The operator that the caller
// has called has the last word, not those it is built from.
#pragma once

#include <ATen/core/boxing/BoxedKernel.h>
#include <ATen/core/stack.h>
#include <c10/core/Scalar.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace dl::core {

// An operator of a vendor failed. Reaches the caller only where torch's CPU has no words for it.
class VendorError : public c10::Error {
 public:
  using c10::Error::Error;
};

// The error that the thread is about to word anew.
class Refusal {
 public:
  explicit Refusal(const c10::Error& error);
  ~Refusal();
  Refusal(const Refusal&) = delete;
  Refusal& operator=(const Refusal&) = delete;

  // Whether it is a vendor's or a CPU kernel's, in its own words or in those of an operator inside.
  static bool is_of_kernel(const c10::Error& error);
  // Says so of a CPU kernel's.
  static void note(const c10::Error& error);

 private:
  const c10::Error* before_;
};

// A kernel that never returns: it throws what the CPU's kernel throws, or else the error that the
// thread words anew, which it is called while handling.
c10::BoxedKernel rewording();

// A number that only double precision holds: torch refuses it beside narrower types, where a kernel
// would take it for an infinity.
inline bool is_beyond_float(double number) {
  return std::abs(number) > std::numeric_limits<float>::max() && !std::isinf(number);
}
inline bool is_beyond_float(const at::Scalar& number) {
  return number.isFloatingPoint() && is_beyond_float(number.toDouble());
}
template <typename T>
bool is_beyond_float(const std::optional<T>& number) {
  return number && is_beyond_float(*number);
}

// Throws if torch's CPU refuses a number among the arguments.
void ask_about_numbers(const c10::OperatorHandle& op, torch::jit::Stack arguments);

}  // namespace dl::core
