#include "dl_kernels/ops/activation.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_ACTIVATION)
