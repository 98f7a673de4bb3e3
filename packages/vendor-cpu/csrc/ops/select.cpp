#include "dl_kernels/ops/select.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_SELECT)
