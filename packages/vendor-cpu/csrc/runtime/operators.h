// The operators of this library. Each file in ops/ adds its family: nothing lists the files.
#ifndef DL_CPU_RUNTIME_OPERATORS_H_
#define DL_CPU_RUNTIME_OPERATORS_H_

#include <initializer_list>
#include <vector>

#include "dl/operator.hpp"

namespace dl::cpu {

struct Family {
  Family(std::initializer_list<dl_operator_t> operators);
};

#if defined(DIOPIRT_EXTERN)

// A library in DIOPI's own convention: the kernels that `list` names are exported by their names.
// The loader asks `find` for the function behind each, so that no list of parameters is repeated.
#define DL_CPU_FAMILY(list) list(DL_CPU_EXPORT)
#define DL_CPU_EXPORT(op)                                                                       \
  extern "C" {                                                                                  \
  static decltype(&::op) find_##op() {                                                          \
    return [](auto... args) {                                                                   \
      return ::dl::operator_detail::guarded<&::dl::kernels::op, decltype(&::op)>(#op, args...); \
    };                                                                                          \
  }                                                                                             \
  DL_EXPORT decltype(::op) op __attribute__((ifunc("find_" #op)));                              \
  }

#else

// Adds the kernels that `list` names.
#define DL_CPU_OPERATOR(name) DL_OPERATOR(::dl::kernels, name),
#define DL_CPU_FAMILY(list)                            \
  namespace {                                          \
  const dl::cpu::Family family{list(DL_CPU_OPERATOR)}; \
  }

#endif

const std::vector<dl_operator_t>& all_operators();

}  // namespace dl::cpu

#endif  // DL_CPU_RUNTIME_OPERATORS_H_
