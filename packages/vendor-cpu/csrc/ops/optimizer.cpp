#include "dl_kernels/ops/optimizer.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_OPTIMIZER)
