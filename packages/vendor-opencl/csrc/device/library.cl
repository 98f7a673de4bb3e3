// Functions that the kernels call and clang does not compile for SPIR-V by itself.
#include "atomics.cl"
#include "bessel.cl"
#include "math.cl"
