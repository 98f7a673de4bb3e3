#include "dl_kernels/ops/sort.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_SORT)
