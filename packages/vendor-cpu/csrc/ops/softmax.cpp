#include "dl_kernels/ops/softmax.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(softmax_operators, DL_KERNELS_SOFTMAX)
