// The list of operators of a library that is built from kernels. dl_kernels.write_units generates
// the compilation unit that defines it, with the macros below.
#ifndef DL_KERNELS_OPERATORS_H_
#define DL_KERNELS_OPERATORS_H_

#include <cstdint>

#include "dl/operator.hpp"
#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

struct OperatorList {
  const dl_operator_t* data;
  uint64_t count;
};

// All operators of the library's families; constant data.
OperatorList operators() noexcept;

DL_KERNELS_END

// Defines the list from an array.
#define DL_KERNELS_LIST(array)                                             \
  dl::kernels::OperatorList dl::kernels::operators() noexcept {            \
    return {array, static_cast<uint64_t>(sizeof(array) / sizeof(*array))}; \
  }

// An entry of the list. A vendor that wraps every operator - for example, to set the driver's
// current device - defines DL_KERNELS_OPERATOR in a header and compiles with
// DL_KERNELS_OPERATOR_HEADER naming that header.
#if defined(DL_KERNELS_OPERATOR_HEADER)
#include DL_KERNELS_OPERATOR_HEADER
#else
#define DL_KERNELS_OPERATOR(function, op) DL_OPERATOR_BY(function, op)
#endif

// Exports a function by an operator's name, as DIOPI's own convention requires. The loader asks
// `find` for the function behind the name, so that the list of parameters is not repeated.
#define DL_KERNELS_EXPORT(function, op)                                                \
  extern "C" {                                                                         \
  static decltype(&::op) find_##op() {                                                 \
    return [](auto... args) {                                                          \
      return ::dl::operator_detail::guarded<&function, decltype(&::op)>(#op, args...); \
    };                                                                                 \
  }                                                                                    \
  DL_EXPORT decltype(::op) op __attribute__((ifunc("find_" #op)));                     \
  }

#endif  // DL_KERNELS_OPERATORS_H_
