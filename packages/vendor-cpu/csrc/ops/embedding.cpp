#include "dl_kernels/ops/embedding.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_EMBEDDING)
