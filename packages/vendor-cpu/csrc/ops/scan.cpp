#include "dl_kernels/ops/scan.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_SCAN)
