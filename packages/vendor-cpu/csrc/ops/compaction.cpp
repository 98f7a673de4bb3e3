#include "dl_kernels/ops/compaction.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_COMPACTION)
