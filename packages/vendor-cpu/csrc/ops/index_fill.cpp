#include "dl_kernels/ops/index_fill.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_INDEX_FILL)
