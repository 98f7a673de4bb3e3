#include "dl_kernels/ops/activation_dl.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_ACTIVATION_DL)
