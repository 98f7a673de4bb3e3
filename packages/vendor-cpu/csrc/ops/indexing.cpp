#include "dl_kernels/ops/indexing.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(indexing_operators, DL_KERNELS_INDEXING)
