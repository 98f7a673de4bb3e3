#include "dl_kernels/ops/loss.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_LOSS)
