#include "dl_kernels/ops/logical.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_LOGICAL)
