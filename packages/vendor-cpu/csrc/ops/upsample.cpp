#include "dl_kernels/ops/upsample.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_UPSAMPLE)
