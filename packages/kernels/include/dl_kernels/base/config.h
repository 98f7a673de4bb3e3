// What differs between the compilers that read the kernels, in one place.
#ifndef DL_KERNELS_BASE_CONFIG_H_
#define DL_KERNELS_BASE_CONFIG_H_

// DL_FN marks functions of kernels, DL_COLD_FN those that are rarely called, which the others are
// faster without.
//
// DL_KERNELS_EMULATE_GPU names a header that plays the GPU, to run its path where there is none.
#if defined(__CUDACC__) || defined(__HIPCC__)
#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#endif
#define DL_KERNELS_GPU 1
#define DL_FN __host__ __device__ __forceinline__
#define DL_COLD_FN __host__ __device__ __noinline__
#define DL_UNROLL _Pragma("unroll")
#define DL_VECTOR_LOOP
#elif defined(DL_KERNELS_EMULATE_GPU)
#define DL_KERNELS_GPU 1
#define DL_FN inline
#define DL_COLD_FN inline
#define DL_UNROLL
#define DL_VECTOR_LOOP
#else
#define DL_KERNELS_GPU 0
#define DL_FN inline __attribute__((always_inline))
#define DL_COLD_FN inline __attribute__((noinline, cold))
#define DL_UNROLL _Pragma("GCC unroll 32")
// No iteration depends on another one. Output and input may be the same memory, element by element.
#define DL_VECTOR_LOOP _Pragma("GCC ivdep")
#endif

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

#endif  // DL_KERNELS_BASE_CONFIG_H_
