#include "dl_kernels/ops/division.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(division_operators, DL_KERNELS_DIVISION)
