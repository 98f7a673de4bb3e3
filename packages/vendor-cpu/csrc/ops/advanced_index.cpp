#include "dl_kernels/ops/advanced_index.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_ADVANCED_INDEX)
