#include "dl_kernels/ops/copy.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_COPY)
