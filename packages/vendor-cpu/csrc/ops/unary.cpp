#include "dl_kernels/ops/unary.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_UNARY)
