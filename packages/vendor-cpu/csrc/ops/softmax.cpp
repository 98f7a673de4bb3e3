#include "dl_kernels/ops/softmax.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_SOFTMAX)
