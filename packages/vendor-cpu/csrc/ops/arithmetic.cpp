#include "dl_kernels/ops/arithmetic.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(arithmetic_operators, DL_KERNELS_ARITHMETIC)
