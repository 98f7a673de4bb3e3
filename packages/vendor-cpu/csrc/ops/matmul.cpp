#include "dl_kernels/ops/matmul.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_MATMUL)
