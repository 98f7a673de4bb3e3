#include "dl_kernels/ops/mean_pooling.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_MEAN_POOLING)
