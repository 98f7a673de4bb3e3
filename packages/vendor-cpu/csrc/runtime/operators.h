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

// Adds the kernels that `list` names.
#define DL_CPU_OPERATOR(name) DL_OPERATOR(::dl::kernels, name),
#define DL_CPU_FAMILY(list)                            \
  namespace {                                          \
  const dl::cpu::Family family{list(DL_CPU_OPERATOR)}; \
  }

const std::vector<dl_operator_t>& all_operators();

}  // namespace dl::cpu

#endif  // DL_CPU_RUNTIME_OPERATORS_H_
