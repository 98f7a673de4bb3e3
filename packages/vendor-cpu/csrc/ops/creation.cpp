#include "dl_kernels/ops/creation.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_CREATION)
