#include "dl_kernels/ops/trigonometry.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_TRIGONOMETRY)
