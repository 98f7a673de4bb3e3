#include "dl_kernels/ops/arithmetic.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_ARITHMETIC)
