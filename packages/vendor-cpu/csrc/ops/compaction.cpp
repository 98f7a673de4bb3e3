#include "dl_kernels/ops/compaction.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(compaction_operators, DL_KERNELS_COMPACTION)
