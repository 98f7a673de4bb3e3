#include "dl_kernels/ops/norm.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_NORM)
