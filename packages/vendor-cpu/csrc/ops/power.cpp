#include "dl_kernels/ops/power.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_POWER)
