// Families of operators add themselves to the vendor: a file for each includes its operators and
// says DL_EMULATED_FAMILY(their list).
#ifndef DL_KERNELS_TESTS_FAMILIES_H_
#define DL_KERNELS_TESTS_FAMILIES_H_

#include <cstddef>

#include "dl/operator.hpp"

void add_operators(const dl_operator_t* operators, size_t count);

#define DL_EMULATED_OPERATOR(name) DL_OPERATOR(::dl::kernels, name),
#define DL_EMULATED_FAMILY(list)                                          \
  namespace {                                                             \
  const dl_operator_t kOperators[] = {list(DL_EMULATED_OPERATOR)};        \
  const bool kAdded =                                                     \
      (add_operators(kOperators, sizeof(kOperators) / sizeof(*kOperators)), true); \
  }

#endif  // DL_KERNELS_TESTS_FAMILIES_H_
