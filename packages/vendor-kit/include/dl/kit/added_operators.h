// Operators for the devices of an existing vendor, in a library and a wheel of their own:
//
//   namespace ops { diopiError_t diopiAdd(diopiContextHandle_t ctx, …) { … } }
//   const dl_operator_t kOperators[] = {DL_KIT_ADDED_OPERATOR(ops, diopiAdd), …};
//   DL_KIT_ADD_OPERATORS("1.0", kOperators, nullptr)
//
// The last argument of DL_KIT_ADD_OPERATORS selects devices: bool(const dl_device_properties_t&),
// or nullptr for all devices of the vendor.
//
// A host calls these operators before the vendor's own. To leave a call to the vendor, throw Error
// with DL_NOT_SUPPORTED before anything is written. Any other exception is the error of the call.
// The device of the context is current on the thread, as for the vendor's own operators.
// docs/added-operators.md shows a complete wheel.
#ifndef DL_KIT_ADDED_OPERATORS_H_
#define DL_KIT_ADDED_OPERATORS_H_

#include "dl/added_operators.h"
#include "dl/kit/status.h"
#include "dl/operator.hpp"

DL_KIT_BEGIN

namespace detail {

// Calls the function; Error with DL_NOT_SUPPORTED becomes a decline.
template <auto kFunction, class Declared>
struct AddedOperator;
template <auto kFunction, class... Args>
struct AddedOperator<kFunction, diopiError_t (*)(diopiContextHandle_t, Args...)> {
  static diopiError_t run(diopiContextHandle_t ctx, Args... args) {
    try {
      return kFunction(ctx, args...);
    } catch (const Error& error) {
      if (error.code() != DL_NOT_SUPPORTED) throw;
      dl::set_last_error(error.what());
      return diopiNoImplement;
    }
  }
};

// Lists the operators for a target; `supports` may be NULL.
inline void list_added(const char* version, const dl_operator_t* operators, uint64_t count,
                       bool (*supports)(const dl_device_properties_t&),
                       const dl_operators_target_t& target, dl_added_operators_t* out) {
  if (supports != nullptr && target.properties != nullptr && !supports(*target.properties))
    count = 0;
  if (DL_HAS_FIELD(out, dl_added_operators_t, version)) out->version = version;
  if (DL_HAS_FIELD(out, dl_added_operators_t, operators)) out->operators = operators;
  if (DL_HAS_FIELD(out, dl_added_operators_t, count)) out->count = count;
  if (DL_HAS_FIELD(out, dl_added_operators_t, last_error))
    out->last_error = [] { return dl::last_error(); };
}

}  // namespace detail

DL_KIT_END

// Initializer of a dl_operator_t: ns::op, which must have the type of ::op.
// clang-format off
#define DL_KIT_ADDED_OPERATOR(ns, op)                                                          \
  {                                                                                            \
    #op, DIOPI_FINGERPRINT_##op,                                                               \
    reinterpret_cast<dl_function_t>(reinterpret_cast<void (*)()>(                              \
        static_cast<decltype(&::op)>([](auto... args) {                                        \
          static_assert(std::is_convertible_v<decltype(&ns::op), decltype(&::op)>,             \
                        "[" #op "] " #ns "::" #op                                              \
                        " does not have the type that its header in diopi/ declares");         \
          return ::dl::operator_detail::guarded<                                               \
              &::dl::kit::detail::AddedOperator<&ns::op, decltype(&::op)>::run,                \
              decltype(&::op)>(#op, args...);                                                  \
        }))),                                                                                  \
    0                                                                                          \
  }

// Defines the exported symbol of the library, outside of any namespace.
#define DL_KIT_ADD_OPERATORS(version, list, supports)                                          \
  extern "C" DL_EXPORT dl_status_t* dl_operators_v1(const dl_operators_target_t* target,       \
                                                    dl_added_operators_t* out) {               \
    return ::dl::kit::guarded([&] {                                                            \
      ::dl::kit::detail::list_added(version, list, sizeof(list) / sizeof(*(list)), supports,   \
                                    *target, out);                                             \
    });                                                                                        \
  }                                                                                            \
  static_assert(true)
// clang-format on

#endif  // DL_KIT_ADDED_OPERATORS_H_
