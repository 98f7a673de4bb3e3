#include "dl_kernels/ops/power.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(power_operators, DL_KERNELS_POWER)
