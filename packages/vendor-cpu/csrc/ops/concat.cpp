#include "dl_kernels/ops/concat.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_CONCAT)
