// Definitions shared by all compilers of the kernels, and the selection of the target machine.
#ifndef DL_KERNELS_BASE_CONFIG_H_
#define DL_KERNELS_BASE_CONFIG_H_

// Every name of this package is in a versioned inline namespace: two vendors in one process may
// carry different versions of the kernels.
#define DL_KERNELS_BEGIN \
  namespace dl {         \
  namespace kernels {    \
  inline namespace v1 {
#define DL_KERNELS_END \
  }                    \
  }                    \
  }

// DL_KERNELS_MACHINE names the header of the target machine. A build may name its own; by default
// the compiler decides. The header supplies what differs between machines, in DL_KERNELS_BEGIN …
// END:
//
//   DL_KERNELS_GPU        0: the loops of cpu/; 1: the loops of gpu/
//   DL_FN, DL_COLD_FN     mark functions of kernels; DL_COLD_FN marks
//                         rarely called ones, which are not inlined,
//                         so that the hot path stays fast
//   DL_CALLED_FN          marks functions so long that the cost of a call is negligible; they are
//                         compiled once
//   DL_UNROLL             unrolls the following loop of few iterations
//   DL_VECTOR_LOOP        asserts that the iterations of the following
//                         loop are independent; output and input may
//                         be the same memory, element by element
//   kScratchElements      elements per pass of an operator that can bound its scratch memory
//   store_relaxed, load_relaxed    access a bool that several threads use
//
// and for gpu/ also DL_KERNEL, DL_KERNEL_FOR_BLOCKS, DL_DEVICE and DL_SHARED, which mark functions
// and variables, DL_NO_UNROLL for loops with few, long iterations, and the namespace gpu of
// machine/runtime_api.h. DL_KERNELS_TENSOR_CORES is defined where machine/cuda_matrix.h is
// available. A machine with conversion instructions for 16-bit floats defines DL_HALF_INSTRUCTIONS
// or DL_BFLOAT16_INSTRUCTIONS and the functions that base/float16.h then calls; a machine without
// 128-bit integers defines DL_UPPER_PRODUCT_INSTRUCTION and gpu::upper_product, for
// random/draws.h. A machine without shuffles, whose warps are whole blocks, defines
// DL_KERNELS_NO_SHUFFLES.
#if !defined(DL_KERNELS_MACHINE)
#if defined(__HIPCC__)
#define DL_KERNELS_MACHINE "dl_kernels/machine/hip.h"
#elif defined(__CUDACC__)
#define DL_KERNELS_MACHINE "dl_kernels/machine/cuda.h"
#else
#define DL_KERNELS_MACHINE "dl_kernels/machine/cpu.h"
#endif
#endif
#include DL_KERNELS_MACHINE

#endif  // DL_KERNELS_BASE_CONFIG_H_
