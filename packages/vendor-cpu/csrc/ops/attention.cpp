#include "dl_kernels/ops/attention.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_ATTENTION)
