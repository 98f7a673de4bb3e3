#include "dl_kernels/ops/batch_norm.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_BATCH_NORM)
