#include "dl_kernels/ops/comparison.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_COMPARISON)
