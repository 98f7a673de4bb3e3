#include "aten/refusal.h"

#include <cstring>

#include "aten/rehearsal.h"

namespace dl::core {
namespace {

// What torch says of a number that a dtype does not hold.
constexpr const char* kOverflow = "cannot be converted to type";

thread_local const c10::Error* current = nullptr;
// The last error that a vendor's refusal has become in this thread.
thread_local std::string last_worded;

void reword(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  const c10::Error& refused = *current;
  const size_t count = op.schema().arguments().size();
  std::exception_ptr said;
  try {
    said = rehearse(op, torch::jit::Stack(stack->end() - count, stack->end()), Twins::copy);
  } catch (const c10::Error&) {
    // A device that does not even give its memory back has more to say than torch's CPU.
  }
  if (said == nullptr) throw;
  try {
    std::rethrow_exception(said);
  } catch (const c10::NotImplementedError&) {
  } catch (c10::Error& error) {
    error.add_context(refused.what_without_backtrace());
    last_worded = error.what_without_backtrace();
    throw;
  }
  throw;
}

}  // namespace

Refusal::Refusal(const c10::Error& error) : before_(current) { current = &error; }
Refusal::~Refusal() { current = before_; }

bool Refusal::is_vendors(const c10::Error& error) {
  return dynamic_cast<const VendorError*>(&error) != nullptr ||
         (!last_worded.empty() && last_worded == error.what_without_backtrace());
}

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
