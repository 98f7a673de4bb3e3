#include "dl_kernels/ops/rearrange.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_REARRANGE)
