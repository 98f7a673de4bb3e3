#include "dl_kernels/ops/pooling.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_POOLING)
