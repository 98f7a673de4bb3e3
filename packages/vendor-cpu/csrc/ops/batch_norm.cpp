#include "dl_kernels/ops/batch_norm.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(batch_norm_operators, DL_KERNELS_BATCH_NORM)
