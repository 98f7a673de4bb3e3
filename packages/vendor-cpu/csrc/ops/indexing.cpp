#include "dl_kernels/ops/indexing.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_INDEXING)
