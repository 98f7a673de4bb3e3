#include "dl_kernels/ops/convolution.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(convolution_operators, DL_KERNELS_CONVOLUTION)
