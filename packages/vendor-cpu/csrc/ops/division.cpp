#include "dl_kernels/ops/division.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_DIVISION)
