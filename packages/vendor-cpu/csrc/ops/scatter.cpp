#include "dl_kernels/ops/scatter.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_SCATTER)
