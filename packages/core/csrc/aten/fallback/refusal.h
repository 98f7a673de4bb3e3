// Translation of vendor errors to torch's: torch's CPU kernel is called with copies of the
// arguments, and the error that it raises is raised, with the vendor's message appended. The error
// names the operator that the user called, not an operator that this one is composed of.
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

// The error that this thread is translating.
class Refusal {
 public:
  explicit Refusal(const c10::Error& error);
  ~Refusal();
  Refusal(const Refusal&) = delete;
  Refusal& operator=(const Refusal&) = delete;

  // Returns true if a vendor's or a CPU kernel has raised the error, and not an operator inside of
  // it.
  static bool is_of_kernel(const c10::Error& error);
  // Records that a CPU kernel has raised `error`.
  static void note(const c10::Error& error);

 private:
  const c10::Error* before_;
};

// A kernel that never returns: it throws the error of torch's CPU kernel or, if there is none, the
// error that the thread is translating. Called while that error is being handled.
c10::BoxedKernel reword_kernel();

// Return true for values that only double can represent: torch rejects them for narrower dtypes,
// where a kernel would convert them to infinity.
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

// Throws if torch's CPU kernel rejects a scalar argument.
void check_scalars(const c10::OperatorHandle& op, torch::jit::Stack arguments);

}  // namespace dl::core
