// What is the same for all compilers that read the kernels, and the machine that they are read for.
#ifndef DL_KERNELS_BASE_CONFIG_H_
#define DL_KERNELS_BASE_CONFIG_H_

// Every name of this package lives in a versioned inline namespace: two vendors in one process may
// carry different versions of the kernels.
#define DL_KERNELS_BEGIN \
  namespace dl {         \
  namespace kernels {    \
  inline namespace v1 {
#define DL_KERNELS_END \
  }                    \
  }                    \
  }

// DL_KERNELS_MACHINE names the header of the machine. A build may name its own; otherwise the
// compiler decides. It supplies what machines do differently, in DL_KERNELS_BEGIN … END:
//
//   DL_KERNELS_GPU        0: the loops of cpu/; 1: those of gpu/
//   DL_FN, DL_COLD_FN     mark functions of kernels; the latter are rarely called, and the others
//                         are faster without them
//   DL_CALLED_FN          marks those that are long and take long, so that the call is nothing:
//   they
//                         are compiled once
//   DL_UNROLL             before a loop of few steps
//   DL_VECTOR_LOOP        before a loop without dependent iterations, whose output and input may be
//                         the same memory, element by element
//   kScratchElements      that an operator takes at a time where it can bound its scratch memory
//   store_relaxed, load_relaxed    of a bool that several threads use
//
// and for gpu/ also DL_KERNEL, DL_KERNEL_FOR_BLOCKS, DL_DEVICE and DL_SHARED, which mark functions
// and variables, DL_NO_UNROLL, before a loop whose steps are rare and long, and the namespace gpu
// of machine/runtime_api.h. DL_KERNELS_TENSOR_CORES says that there is what machine/cuda_matrix.h
// has. Where the machine has instructions that convert the 16-bit floats, it defines
// DL_HALF_INSTRUCTIONS or DL_BFLOAT16_INSTRUCTIONS, and the functions that base/float16.h calls
// then.
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
