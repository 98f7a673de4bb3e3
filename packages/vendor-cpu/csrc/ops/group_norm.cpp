#include "dl_kernels/ops/group_norm.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_GROUP_NORM)
