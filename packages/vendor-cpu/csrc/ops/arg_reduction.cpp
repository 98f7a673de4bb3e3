#include "dl_kernels/ops/arg_reduction.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_ARG_REDUCTION)
