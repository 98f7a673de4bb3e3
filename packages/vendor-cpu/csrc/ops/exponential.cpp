#include "dl_kernels/ops/exponential.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_EXPONENTIAL)
