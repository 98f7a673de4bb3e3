#include "dl_kernels/ops/random.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_RANDOM)
