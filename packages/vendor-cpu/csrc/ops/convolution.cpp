#include "dl_kernels/ops/convolution.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_CONVOLUTION)
