#include "aten/fallback/refusal.h"

#include <ATen/core/LegacyTypeDispatch.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>

#include "aten/fallback/dry_run.h"
#include "aten/fallback/fallback.h"
#include "calls/vendor_error.h"
#include "runtime/device_error.h"

namespace dl::core {
namespace {

// Part of torch's message for a value that a dtype cannot represent.
constexpr const char* kOverflow = "cannot be converted to type";

thread_local const c10::Error* current = nullptr;
// Message of the last kernel error in this thread, in torch's words.
thread_local std::string last_said;

// torch's CPU kernels of gradients trust the indices of the forward pass, and its ctc_loss trusts
// its targets: indices that a vendor has rejected would make them access memory out of bounds.
bool trusts_indices(const c10::OperatorHandle& op) {
  const std::string& name = op.operator_name().name;
  return name.find("_backward") != std::string::npos || name == "aten::_ctc_loss";
}

// Dividing the smallest integer by -1 overflows and traps in the CPU's kernels.
bool may_trap(const c10::OperatorHandle& op, const c10::IValue& dividend) {
  constexpr const char* names[] = {"aten::div", "aten::floor_divide", "aten::fmod",
                                   "aten::remainder"};
  const std::string& name = op.operator_name().name;
  if (std::none_of(std::begin(names), std::end(names),
                   [&](const char* each) { return name.rfind(each, 0) == 0; }))
    return false;
  if (!dividend.isTensor()) return true;
  const at::Tensor& self = dividend.toTensor();
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  if (self.scalar_type() == at::kInt)
    return self.eq(std::numeric_limits<int32_t>::min()).any().item<bool>();
  return self.scalar_type() == at::kLong &&
         self.eq(std::numeric_limits<int64_t>::min()).any().item<bool>();
}

void reword(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  const size_t count = op.schema().arguments().size();
  if (trusts_indices(op) || may_trap(op, *(stack->end() - count))) throw;
  const c10::Error& refused = *current;
  const torch::jit::Stack arguments(stack->end() - count, stack->end());
  std::exception_ptr said;
  try {
    said = dry_run(op, arguments, Twins::copy);
  } catch (const c10::Error& error) {
    // An error of an earlier call takes precedence.
    if (dynamic_cast<const LateError*>(&error) != nullptr) throw;
    // If the device cannot even return its memory, its error is more informative than torch's.
  }
  if (said == nullptr) throw;
  try {
    std::rethrow_exception(said);
  } catch (const c10::NotImplementedError& error) {
    // Neither the inner operator nor `op` has a kernel; the error names `op`, which the user knows.
    if (dynamic_cast<const c10::NotImplementedError*>(&refused) != nullptr)
      refuse_unsupported(op, arguments, error);
  } catch (c10::Error& error) {
    const std::string before = refused.what_without_backtrace();
    if (before != error.what_without_backtrace()) error.add_context(before);
    Refusal::note(error);
    throw;
  }
  throw;
}

}  // namespace

Refusal::Refusal(const c10::Error& error) : before_(current) { current = &error; }
Refusal::~Refusal() { current = before_; }

bool Refusal::is_of_kernel(const c10::Error& error) {
  return dynamic_cast<const VendorError*>(&error) != nullptr ||
         (!last_said.empty() && last_said == error.what_without_backtrace());
}

void Refusal::note(const c10::Error& error) { last_said = error.what_without_backtrace(); }

c10::BoxedKernel reword_kernel() { return c10::BoxedKernel::makeFromFunction<&reword>(); }

void check_scalars(const c10::OperatorHandle& op, torch::jit::Stack arguments) {
  const std::exception_ptr said = dry_run(op, std::move(arguments), Twins::blank);
  if (said == nullptr) return;
  try {
    std::rethrow_exception(said);
  } catch (const c10::Error& error) {
    if (std::strstr(error.what_without_backtrace(), kOverflow) != nullptr) throw;
  }
}

}  // namespace dl::core
