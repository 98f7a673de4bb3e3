#include "dl_kernels/ops/random.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(random_operators, DL_KERNELS_RANDOM)
