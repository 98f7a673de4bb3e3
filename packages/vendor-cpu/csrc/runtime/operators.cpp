#include "runtime/operators.h"

namespace dl::cpu {

// clang-format off
#define DL_CPU_FAMILIES(X)                                                                        \
  X(activation) X(arg_reduction) X(arithmetic) X(batch_norm) X(compaction) X(comparison)          \
  X(concat) X(convolution) X(copy) X(creation) X(division) X(embedding) X(indexing) X(layer_norm) \
  X(logical) X(matmul) X(nll_loss) X(optimizer) X(pooling) X(power) X(random) X(reduction)        \
  X(scan) X(select) X(softmax) X(unary)
// clang-format on

#define DL_CPU_DECLARE(name) Family name##_operators();
DL_CPU_FAMILIES(DL_CPU_DECLARE)
#undef DL_CPU_DECLARE

std::vector<dl_operator_t> all_operators() {
  std::vector<dl_operator_t> all;
#define DL_CPU_APPEND(name)                                                   \
  {                                                                           \
    const Family family = name##_operators();                                 \
    all.insert(all.end(), family.operators, family.operators + family.count); \
  }
  DL_CPU_FAMILIES(DL_CPU_APPEND)
#undef DL_CPU_APPEND
  return all;
}

}  // namespace dl::cpu
