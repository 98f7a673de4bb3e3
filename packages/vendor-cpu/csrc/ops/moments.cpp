#include "dl_kernels/ops/moments.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_MOMENTS)
