#include "dl_kernels/ops/layer_norm.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_LAYER_NORM)
