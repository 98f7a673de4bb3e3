#include "dl_kernels/ops/image_columns.inc"
#include "runtime/operators.h"

DL_CPU_FAMILY(DL_KERNELS_IMAGE_COLUMNS)
