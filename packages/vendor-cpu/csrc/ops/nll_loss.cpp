#include "dl_kernels/ops/nll_loss.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_NLL_LOSS)
