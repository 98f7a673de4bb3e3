// CPU: size of the vector registers for which this code is compiled.
#ifndef DL_KERNELS_CPU_REGISTERS_H_
#define DL_KERNELS_CPU_REGISTERS_H_

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

namespace detail {

inline constexpr int kVectorBytes =
#if defined(__AVX512F__)
    64;
#elif defined(__AVX__)
    32;
#else
    16;
#endif

}  // namespace detail

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_REGISTERS_H_
