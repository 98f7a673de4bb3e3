#include "aten/refusal.h"

#include "aten/rehearsal.h"

namespace dl::core {
namespace {

thread_local const VendorError* current = nullptr;

void reword(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  const VendorError refused = *current;
  const size_t count = op.schema().arguments().size();
  std::exception_ptr said;
  try {
    said = rehearse(op, torch::jit::Stack(stack->end() - count, stack->end()), Twins::copy);
  } catch (const c10::Error&) {
    // A device that does not even give its memory back has more to say than torch's CPU.
  }
  if (said == nullptr) throw refused;
  try {
    std::rethrow_exception(said);
  } catch (const c10::NotImplementedError&) {
    throw refused;
  } catch (c10::Error& error) {
    error.add_context(refused.what_without_backtrace());
    throw;
  }
}

}  // namespace

Refusal::Refusal(const VendorError& error) : before_(current) { current = &error; }
Refusal::~Refusal() { current = before_; }

c10::BoxedKernel rewording() { return c10::BoxedKernel::makeFromFunction<&reword>(); }

}  // namespace dl::core
