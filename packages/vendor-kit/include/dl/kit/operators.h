// Operator registration, by name and by the fingerprint of the contract's signature:
//
//   const dl_operator_t kOperators[] = {DL_KIT_OPERATOR(Vendor, ops, diopiAdd), …};
//
// The entry compiles only if ops::diopiAdd has exactly the type of ::diopiAdd. While the operator
// runs, the device of its context is current on the thread, so a NULL stream is that device's
// default stream. An exception becomes an error with its message. To decline a call, throw Error
// with DL_NOT_SUPPORTED before anything is written; the host gets diopiNoImplement.
#ifndef DL_KIT_OPERATORS_H_
#define DL_KIT_OPERATORS_H_

#include "dl/kit/table.h"

DL_KIT_BEGIN

// Returns the instance whose operator runs. Throws Error for a context without one.
template <class V>
V& vendor_of(diopiContextHandle_t ctx) {
  dl_vendor_t* vendor = dl_context_vendor(ctx);
  if (vendor == nullptr) throw Error(DL_INVALID_ARGUMENT, "the context is NULL or has no vendor");
  return self<V>(vendor);
}

namespace detail {

template <class V, auto kFunction, class... Args>
diopiError_t run_operator(diopiContextHandle_t ctx, Args... args) {
  try {
    enter_device(vendor_of<V>(ctx), dl_context_device(ctx));
    return kFunction(ctx, args...);
  } catch (const Error& error) {
    if (error.code() != DL_NOT_SUPPORTED) throw;
    dl::set_last_error(error.what());
    return diopiNoImplement;
  }
}

// Wraps run_operator in the type that the contract declares.
template <class V, auto kFunction, class Declared>
struct Operator;
template <class V, auto kFunction, class... Args>
struct Operator<V, kFunction, diopiError_t (*)(diopiContextHandle_t, Args...)> {
  static diopiError_t run(diopiContextHandle_t ctx, Args... args) {
    return run_operator<V, kFunction>(ctx, args...);
  }
};

}  // namespace detail

DL_KIT_END

// Initializer of a dl_operator_t: ns::op on behalf of the vendor class V.
#define DL_KIT_OPERATOR(V, ns, op) DL_KIT_OPERATOR_BY(V, ns::op, op)

// Like DL_KIT_OPERATOR for a function with another name. Its type is checked here, because calling
// it would convert the arguments: an int64_t dim to an int32_t, a double eps to a bool. The shim is
// a lambda, so each operator has its own function, which knows the operator's name.
// clang-format off
#define DL_KIT_OPERATOR_BY(V, function, op)                                                       \
  {                                                                                               \
    #op, DIOPI_FINGERPRINT_##op,                                                                  \
    reinterpret_cast<dl_function_t>(reinterpret_cast<void (*)()>(                                 \
        static_cast<decltype(&::op)>([](auto... args) {                                           \
          static_assert(std::is_convertible_v<decltype(&function), decltype(&::op)>,              \
                        "[" #op "] " #function                                                    \
                        " does not have the type that its header in diopi/ declares");            \
          return ::dl::operator_detail::guarded<                                                  \
              &::dl::kit::detail::Operator<V, &function, decltype(&::op)>::run, decltype(&::op)>( \
              #op, args...);                                                                      \
        }))),                                                                                     \
    0                                                                                             \
  }
// clang-format on

#endif  // DL_KIT_OPERATORS_H_
