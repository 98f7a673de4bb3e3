#include "dl_kernels/ops/logical.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(logical_operators, DL_KERNELS_LOGICAL)
