#include "dl_kernels/ops/arg_reduction.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(arg_reduction_operators, DL_KERNELS_ARG_REDUCTION)
