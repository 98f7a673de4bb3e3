// The header that kernels for the CPU include as "dl_cpu_kernel.h": the extension places it next to
// the source.
#ifndef DL_CPU_EXTENSIONS_CPU_KERNEL_H_
#define DL_CPU_EXTENSIONS_CPU_KERNEL_H_

#include <cstdint>

namespace dl::cpu {

// The same struct as in the text below.
struct CpuBlock {
  uint32_t index[3];
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t reserved;
  void* shared;
  uint64_t shared_bytes;
  uint64_t argument_count;
};

using CpuKernel = void (*)(const CpuBlock* block, const void* const* arguments);

// Prefix of the variable that marks a function as a kernel and gives its calling convention.
inline constexpr char kCpuKernelMark[] = "dl_cpu_kernel_";
inline constexpr uint32_t kCpuKernelConvention = 1;

inline constexpr char kCpuKernelHeader[] = R"(// Kernels for the CPU vendor of dl.
//
//   #include "dl_cpu_kernel.h"
//
//   DL_CPU_KERNEL(scale) {  // (float* data, float factor, int64_t count)
//     float* data = dl_cpu_argument<float*>(arguments, 0);
//     const float factor = dl_cpu_argument<float>(arguments, 1);
//     const int64_t count = dl_cpu_argument<int64_t>(arguments, 2);
//     const int64_t threads = block->block[0], first = block->index[0] * threads;
//     for (int64_t i = first; i < count && i < first + threads; ++i) data[i] *= factor;
//   }
//
// The function runs once for each block of the grid, on some thread, in any order, and does the
// work of all threads of its block.
#ifndef DL_CPU_KERNEL_H_
#define DL_CPU_KERNEL_H_

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

struct dl_cpu_block {
  uint32_t index[3];  // index of this block
  uint32_t grid[3];   // number of blocks
  uint32_t block[3];  // threads per block
  uint32_t reserved;
  void* shared;  // private to this block, 64-byte aligned, uninitialized
  uint64_t shared_bytes;
  uint64_t argument_count;
};

[[noreturn]] __attribute__((noinline, cold)) inline void dl_cpu_no_argument(int index) {
  throw std::out_of_range("argument " + std::to_string(index) +
                          " is missing: the launch did not pass it");
}

// Return argument `index` of the launch, which must have been passed as a T. If the launch did not
// pass this argument, throw, which makes the launch fail.
template <typename T>
T dl_cpu_argument(const void* const* arguments, int index) {
  if (arguments[index] == nullptr) dl_cpu_no_argument(index);
  T value;
  std::memcpy(&value, arguments[index], sizeof value);
  return value;
}

#define DL_CPU_KERNEL(name)                                                                  \
  extern "C" __attribute__((visibility("default"))) const uint32_t dl_cpu_kernel_##name = 1; \
  extern "C" __attribute__((visibility("default"))) void name(                               \
      [[maybe_unused]] const dl_cpu_block* block, [[maybe_unused]] const void* const* arguments)

#endif
)";

}  // namespace dl::cpu

#endif  // DL_CPU_EXTENSIONS_CPU_KERNEL_H_
