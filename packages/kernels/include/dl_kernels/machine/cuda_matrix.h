// NVIDIA's instructions for matrix products: tensor cores, which a warp uses together, and
// asynchronous copies to shared memory that bypass registers. Each function has a form for every
// compute capability from 7.5 on, since PTX for 7.5 also runs on later GPUs.
#ifndef DL_KERNELS_MACHINE_CUDA_MATRIX_H_
#define DL_KERNELS_MACHINE_CUDA_MATRIX_H_

#include <cstdint>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/float16.h"

#define DL_KERNELS_TENSOR_CORES 1

DL_KERNELS_BEGIN

namespace gpu {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
inline constexpr bool kAsyncCopies = true;
#else
inline constexpr bool kAsyncCopies = false;
#endif

DL_DEVICE uint32_t shared_address(const void* at) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(at));
}

// Hide a value from the optimizer, so that expressions of it inside a loop are recomputed instead
// of occupying registers during the whole loop.
DL_DEVICE int64_t opaque_value(int64_t value) {
  asm volatile("" : "+l"(value));
  return value;
}
DL_DEVICE int opaque_value(int value) {
  asm volatile("" : "+r"(value));
  return value;
}
DL_DEVICE uint32_t opaque_value(uint32_t value) {
  asm volatile("" : "+r"(value));
  return value;
}

// Return the compute capability for which a kernel was compiled (80 for 8.0). Instructions that are
// missing in its PTX stay missing on every GPU that it is translated for.
template <class... P>
int compiled_architecture(void (*kernel)(P...)) {
  cudaFuncAttributes known{};
  check(cudaFuncGetAttributes(&known, reinterpret_cast<const void*>(kernel)),
        "the attributes of a kernel could not be read");
  return known.ptxVersion;
}

// Return 2 to the power of `exponent`; subnormal results are flushed to 0.
DL_DEVICE float power_of_2(float exponent) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(exponent));
  return power;
}

// Load four 8 × 8 matrices of half precision; lane 8 i + j gives the address of row j of matrix i.
// A lane receives the elements 2 · (lane % 4) and the next in row lane / 4 of each matrix, or of
// its transpose if `transposed`. Both forms are predicated instructions: with a branch, the
// compiler could not move later loads up.
DL_DEVICE void load_matrices(uint32_t (&to)[4], uint32_t address, bool transposed) {
  asm volatile(
      "{\n"
      ".reg .pred turned;\n"
      "setp.ne.b32 turned, %5, 0;\n"
      "@turned ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
      "@!turned ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
      "}\n"
      : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
      : "r"(address), "r"(static_cast<int>(transposed))
      : "memory");
}

// The same with the choice at compile time.
template <bool kTransposed>
DL_DEVICE void load_matrices(uint32_t (&to)[4], uint32_t address) {
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
  }
}

// Load 4 bytes of shared memory.
DL_DEVICE uint32_t load_shared(uint32_t address) {
  uint32_t value;
  asm volatile("ld.shared.b32 %0, [%1];\n" : "=r"(value) : "r"(address) : "memory");
  return value;
}

// Load 16 bytes of shared memory.
DL_DEVICE void load_shared(uint32_t (&to)[4], uint32_t address) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

template <class T>
DL_DEVICE float float_of(uint16_t bits) {
  if constexpr (std::is_same_v<T, Half>) {
    float value;
    asm("cvt.f32.f16 %0, %1;\n" : "=f"(value) : "h"(bits));
    return value;
  } else {
    return static_cast<float>(bit_cast<T>(bits));
  }
}
template <class T>
DL_DEVICE float first_of(uint32_t pair) {
  return float_of<T>(static_cast<uint16_t>(pair & 0xffffu));
}
template <class T>
DL_DEVICE float second_of(uint32_t pair) {
  return float_of<T>(static_cast<uint16_t>(pair >> 16));
}

// Fallback where tensor cores do not support the type: each lane gets the elements from other lanes
// by shuffles. Not inlined, to keep the code small.
template <class T>
__device__ __noinline__ float4 multiply_with_shuffles(float4 sum, uint4 a, uint2 b) {
  const int lane = thread_index() % 32, line = lane & ~3, column = lane % 4 * 8;
  const uint32_t upper[2] = {a.x, a.z}, lower[2] = {a.y, a.w}, of_b[2] = {b.x, b.y};
  DL_UNROLL
  for (int half = 0; half < 2; ++half) {
    DL_UNROLL
    for (int i = 0; i < 4; ++i) {
      const uint32_t up = __shfl_sync(0xffffffffu, upper[half], line + i);
      const uint32_t down = __shfl_sync(0xffffffffu, lower[half], line + i);
      const uint32_t left = __shfl_sync(0xffffffffu, of_b[half], column + i);
      const uint32_t right = __shfl_sync(0xffffffffu, of_b[half], column + 4 + i);
      sum.x += first_of<T>(up) * first_of<T>(left) + second_of<T>(up) * second_of<T>(left);
      sum.y += first_of<T>(up) * first_of<T>(right) + second_of<T>(up) * second_of<T>(right);
      sum.z += first_of<T>(down) * first_of<T>(left) + second_of<T>(down) * second_of<T>(left);
      sum.w += first_of<T>(down) * first_of<T>(right) + second_of<T>(down) * second_of<T>(right);
    }
  }
  return sum;
}

// Round a float to TF32, to nearest; tensor cores ignore the last 13 bits.
DL_DEVICE uint32_t rounded_to_tf32(uint32_t bits) {
  const float value = bit_cast<float>(bits);
  return value == value ? bits + 0x1000 : bits;
}

// sum += a · b, with a 16 × 8 and b 8 × 8 of floats rounded to TF32. Lane l holds columns l % 4 and
// l % 4 + 4 of rows l / 4 and l / 4 + 8 of a, rows first, and the same columns of row l / 4 of the
// transpose of b. Requires compute capability 8.0.
DL_DEVICE void multiply_add_tf32(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0,
                                 uint32_t b1) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  (void)sum, (void)a, (void)b0, (void)b1;
#endif
}

// sum += a · b, with a 16 × 16 and b 16 × 8 in half precision. Lane l holds the elements 2 · (l %
// 4) and the next of rows l / 4 and l / 4 + 8 of the accumulator; of a, the four quarters as
// `load_matrices` returns them, upper ones first; of b, the two parts of its transpose.
template <class T>
DL_DEVICE void multiply_add_halves(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0,
                                   uint32_t b1) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, Half>) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};\n"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};\n"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
#else
  if constexpr (std::is_same_v<T, Half>) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%8}, "
        "{%0, %1, %2, %3};\n"
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%6, %7}, {%9}, "
        "{%0, %1, %2, %3};\n"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    const float4 made =
        multiply_with_shuffles<T>(make_float4(sum[0], sum[1], sum[2], sum[3]),
                                  make_uint4(a[0], a[1], a[2], a[3]), make_uint2(b0, b1));
    sum[0] = made.x;
    sum[1] = made.y;
    sum[2] = made.z;
    sum[3] = made.w;
  }
#endif
}

// The same for both types; for floats, the inner dimension has half as many elements, in the layout
// of multiply_add_tf32.
template <class T>
DL_DEVICE void multiply_add(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  if constexpr (std::is_same_v<T, float>) {
    multiply_add_tf32(sum, a, b0, b1);
  } else {
    multiply_add_halves<T>(sum, a, b0, b1);
  }
}

// Split floats into sums of two TF32 numbers that tensor cores multiply exactly: the first is the
// float rounded to 11 digits; of the 12 digits of the remainder, one is lost. For infinity the
// remainder is NaN, as in torch's attention.
template <int kCount>
struct SplitFloats {
  uint32_t big[kCount], rest[kCount];

  DL_DEVICE explicit SplitFloats(const uint32_t (&bits)[kCount]) {
    DL_UNROLL
    for (int i = 0; i < kCount; ++i) {
      // cvt.rna.tf32 does the same in five instructions.
      big[i] = (bits[i] + 0x1000) & ~0x1fffu;
      rest[i] = bit_cast<uint32_t>(bit_cast<float>(bits[i]) - bit_cast<float>(big[i]));
    }
  }
};

// Copy 16 bytes to shared memory asynchronously, zero-filled from `bytes` on.
DL_DEVICE void copy_async(uint32_t to, const void* from, int bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n"
               :
               : "r"(to), "l"(__cvta_generic_to_global(from)), "r"(bytes)
               : "memory");
#else
  (void)to, (void)from, (void)bytes;
#endif
}

// The same with 8 bytes.
DL_DEVICE void copy_eight_async(uint32_t to, const void* from, int bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;\n"
               :
               : "r"(to), "l"(__cvta_generic_to_global(from)), "r"(bytes)
               : "memory");
#else
  (void)to, (void)from, (void)bytes;
#endif
}

// Commit the copies since the last call as a group.
DL_DEVICE void commit_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;\n" ::: "memory");
#endif
}

// Wait until at most `kGroups` groups of the thread's copies are pending.
template <int kGroups>
DL_DEVICE void wait_for_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kGroups) : "memory");
#endif
}

// Round two floats to half precision and pack them.
template <class T>
DL_DEVICE uint32_t pair_of(float first, float second) {
  uint32_t pair;
  if constexpr (std::is_same_v<T, Half>) {
    asm("{\n.reg .b16 low, high;\ncvt.rn.f16.f32 low, %1;\ncvt.rn.f16.f32 high, %2;\n"
        "mov.b32 %0, {low, high};\n}\n"
        : "=r"(pair)
        : "f"(first), "f"(second));
  } else {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;\n" : "=r"(pair) : "f"(second), "f"(first));
#else
    pair = BFloat16(first).bits | static_cast<uint32_t>(BFloat16(second).bits) << 16;
#endif
  }
  return pair;
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_MACHINE_CUDA_MATRIX_H_
