#include "dl_kernels/ops/matmul.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(matmul_operators, DL_KERNELS_MATMUL)
