// The operators of this library, one family per file in ops/.
#ifndef DL_CPU_RUNTIME_OPERATORS_H_
#define DL_CPU_RUNTIME_OPERATORS_H_

#include <cstddef>
#include <vector>

#include "dl/operator.hpp"

namespace dl::cpu {

struct Family {
  const dl_operator_t* operators;
  size_t count;
};

// Defines the function `name` that returns the family of kernels that `list` names.
#define DL_CPU_OPERATOR(name) DL_OPERATOR(::dl::kernels, name),
#define DL_CPU_FAMILY(name, list)                                     \
  namespace dl::cpu {                                                 \
  Family name() {                                                     \
    static const dl_operator_t operators[] = {list(DL_CPU_OPERATOR)}; \
    return {operators, sizeof(operators) / sizeof(operators[0])};     \
  }                                                                   \
  }

std::vector<dl_operator_t> all_operators();

}  // namespace dl::cpu

#endif  // DL_CPU_RUNTIME_OPERATORS_H_
