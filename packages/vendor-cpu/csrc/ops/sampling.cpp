#include "dl_kernels/ops/sampling.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_SAMPLING)
