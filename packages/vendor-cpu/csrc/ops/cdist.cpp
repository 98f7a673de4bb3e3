#include "dl_kernels/ops/cdist.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_CDIST)
