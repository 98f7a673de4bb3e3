#include "dl_kernels/ops/conv_transpose.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_CONV_TRANSPOSE)
