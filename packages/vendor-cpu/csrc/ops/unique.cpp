#include "dl_kernels/ops/unique.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_UNIQUE)
