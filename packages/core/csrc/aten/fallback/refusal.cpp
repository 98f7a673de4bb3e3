#include "aten/fallback/refusal.h"
#include "calls/vendor_error.h"

#include <cstring>

#include "aten/fallback/rehearsal.h"
#include "runtime/device_error.h"

namespace dl::core {
namespace {

// What torch says of a number that a dtype does not hold.
constexpr const char* kOverflow = "cannot be converted to type";

thread_local const c10::Error* current = nullptr;
// What the last kernel that refused in this thread has said, in torch's words.
thread_local std::string last_said;

// Torch's CPU kernels of gradients trust the indices that a forward pass gave them: with those that
// a vendor has refused they would write to memory that is not theirs.
bool is_gradient(const c10::OperatorHandle& op) {
  return op.operator_name().name.find("_backward") != std::string::npos;
}

void reword(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  if (is_gradient(op)) throw;
  const c10::Error& refused = *current;
  const size_t count = op.schema().arguments().size();
  std::exception_ptr said;
  try {
    said = rehearse(op, torch::jit::Stack(stack->end() - count, stack->end()), Twins::copy);
  } catch (const c10::Error& error) {
    // What an earlier call has left came first.
    if (dynamic_cast<const LateError*>(&error) != nullptr) throw;
    // A device that does not even give its memory back has more to say than torch's CPU.
  }
  if (said == nullptr) throw;
  try {
    std::rethrow_exception(said);
  } catch (const c10::NotImplementedError&) {
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

c10::BoxedKernel rewording() { return c10::BoxedKernel::makeFromFunction<&reword>(); }

void ask_about_numbers(const c10::OperatorHandle& op, torch::jit::Stack arguments) {
  const std::exception_ptr said = rehearse(op, std::move(arguments), Twins::blank);
  if (said == nullptr) return;
  try {
    std::rethrow_exception(said);
  } catch (const c10::Error& error) {
    if (std::strstr(error.what_without_backtrace(), kOverflow) != nullptr) throw;
  }
}

}  // namespace dl::core
