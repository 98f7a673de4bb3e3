#include "dl_kernels/ops/padding.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_PADDING)
