#include "dl_kernels/ops/layer_norm.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(layer_norm_operators, DL_KERNELS_LAYER_NORM)
