#include "dl_kernels/ops/rms_norm.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_RMS_NORM)
