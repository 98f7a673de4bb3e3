// Macro for entries of the operator array of a vendor in C++:
//
//   static const dl_operator_t kOperators[] = {DL_OPERATOR(dl::cpu, diopiAdd), ...};
//
// The entry calls dl::cpu::diopiAdd through a noexcept shim. Not part of the contract: hosts do not
// use it.
#ifndef DL_OPERATOR_HPP_
#define DL_OPERATOR_HPP_

#include <cstdio>
#include <exception>
#include <type_traits>

#include "diopi/diopirt.h"
#include "diopi/fingerprints.gen.h"
#include "diopi/functions.h"
#include "diopi/functions_dl.h"
#include "diopi/functions_ext.h"
#include "diopi/functions_lmdeploy.h"
#include "diopi/functions_mmcv.h"
#include "diopi/functions_sparse.h"
#include "dl/context.h"
#include "dl/vendor.h"

// This header defines the variable itself; the macro is still usable in sources that include it.
extern "C" {
inline __attribute__((visibility("hidden"))) __thread diopiContextHandle_t dl_current_context =
    nullptr;
}
#undef DL_DEFINE_CURRENT_CONTEXT
#define DL_DEFINE_CURRENT_CONTEXT static_assert(true)

namespace dl {

// Hidden, so that two libraries in one process never share these through their inline definitions.
#pragma GCC visibility push(hidden)

namespace operator_detail {

// An array without a destructor: a library with such a thread-local can still be unloaded.
inline thread_local char error_message[512];

}  // namespace operator_detail

// Sets the message of the operator that fails on this thread, truncated to the buffer. Called
// before the operator returns its error.
inline void set_last_error(const char* message) noexcept {
  std::snprintf(operator_detail::error_message, sizeof operator_detail::error_message, "%s",
                message);
}

// The message of the last operator that ran on this thread; empty if it set none.
inline const char* last_error() noexcept { return operator_detail::error_message; }

namespace operator_detail {

// Turns the exception being handled into the thread's message. Out of line to keep the shims small.
[[gnu::cold, gnu::noinline]] inline diopiError_t report_exception(const char* name) noexcept {
  try {
    throw;
  } catch (const std::exception& error) {
    std::snprintf(error_message, sizeof error_message, "[%s] %s", name, error.what());
  } catch (...) {
    std::snprintf(error_message, sizeof error_message,
                  "[%s] an exception that is not a std::exception", name);
  }
  return diopiErrorOccurred;
}

// Sets the context that functions without a context argument use, and restores the previous one on
// destruction, because operator calls may nest.
class CurrentContext {
 public:
  explicit CurrentContext(diopiContextHandle_t ctx) noexcept
      : current_(&dl_current_context), before_(*current_) {
    *current_ = ctx;
  }
  ~CurrentContext() { *current_ = before_; }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  diopiContextHandle_t* current_;  // cached: accessing a thread-local of a shared library is a call
  diopiContextHandle_t before_;
};

template <auto kFunction, typename Declared, typename... Args>
diopiError_t guarded(const char* name, diopiContextHandle_t ctx, Args... args) noexcept {
  static_assert(std::is_convertible_v<decltype(kFunction), Declared>,
                "the function does not have the type that its header in diopi/ declares");
  error_message[0] = '\0';
  CurrentContext current(ctx);
  try {
    return kFunction(ctx, args...);
  } catch (...) {
    return report_exception(name);
  }
}

}  // namespace operator_detail

#pragma GCC visibility pop

}  // namespace dl

// Initializer of a dl_operator_t for ns::op, which must have the type of ::op.
#define DL_OPERATOR(ns, op) DL_OPERATOR_BY(ns::op, op)

// As DL_OPERATOR for a function of another name. The shim is a lambda, so that each operator has
// its own function and its name in messages. Compilers accept a cast between function types without
// a warning only through void(*)().
// clang-format off
#define DL_OPERATOR_BY(function, op)                                                              \
  {                                                                                               \
    #op, DIOPI_FINGERPRINT_##op,                                                                  \
    reinterpret_cast<dl_function_t>(reinterpret_cast<void (*)()>(                                 \
        static_cast<decltype(&::op)>([](auto... args) {                                           \
          return ::dl::operator_detail::guarded<&function, decltype(&::op)>(#op, args...);        \
        }))),                                                                                     \
    0                                                                                             \
  }
// clang-format on

#endif
