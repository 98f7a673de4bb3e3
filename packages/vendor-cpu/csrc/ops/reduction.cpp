#include "dl_kernels/ops/reduction.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_REDUCTION)
