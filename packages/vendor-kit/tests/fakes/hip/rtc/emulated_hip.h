// Prelude of the kernels that the fake hipRTC compiles: HIP's language for g++, as far as tests use
// it. The threads of a block are fibers, which switch at barriers.
#ifndef FAKE_HIP_RTC_EMULATED_HIP_H_
#define FAKE_HIP_RTC_EMULATED_HIP_H_

#include <ucontext.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "emulated_image.h"

#define __global__
#define __device__ inline
#define __shared__ static
#define __launch_bounds__(...)

namespace emulated_hip {

struct Index {
  unsigned x, y, z;
};

struct Fiber {
  ucontext_t context;
  std::vector<char> stack;
  Index thread;
  bool finished;
};

// The device runs one kernel at a time, on one thread.
inline ucontext_t scheduler;
inline Fiber* running = nullptr;
inline std::vector<char> shared;
inline void (*body)(void* const*) = nullptr;
inline void* const* arguments = nullptr;

inline void enter() {
  body(arguments);
  running->finished = true;
}

}  // namespace emulated_hip

inline emulated_hip::Index threadIdx, blockIdx, blockDim, gridDim;

inline void __syncthreads() {
  swapcontext(&emulated_hip::running->context, &emulated_hip::scheduler);
}

namespace emulated_hip {

// Resumes each thread until its next barrier. HIP leaves it undefined if some threads of a block
// wait at a barrier and others have ended; here the process aborts.
inline void run_block(std::vector<Fiber>& fibers) {
  for (Fiber& fiber : fibers) {
    fiber.finished = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = fiber.stack.size();
    fiber.context.uc_link = &scheduler;
    makecontext(&fiber.context, enter, 0);
  }
  size_t finished = 0;
  while (finished == 0) {
    for (Fiber& fiber : fibers) {
      running = &fiber;
      threadIdx = fiber.thread;
      swapcontext(&scheduler, &fiber.context);
      finished += fiber.finished ? 1 : 0;
    }
  }
  if (finished == fibers.size()) return;
  std::fprintf(stderr, "%zu of %zu threads did not reach a barrier\n", finished, fibers.size());
  std::abort();
}

inline void run_grid(const emulated::Run& with, void (*kernel)(void* const*)) {
  constexpr size_t kStack = 64 << 10;
  constexpr char kPoison = -1;
  body = kernel;
  arguments = with.arguments;
  gridDim = {with.grid[0], with.grid[1], with.grid[2]};
  blockDim = {with.block[0], with.block[1], with.block[2]};
  std::vector<Fiber> fibers(size_t{blockDim.x} * blockDim.y * blockDim.z);
  for (size_t i = 0; i < fibers.size(); ++i) {
    const auto number = static_cast<unsigned>(i);
    fibers[i].stack.resize(kStack);
    fibers[i].thread = {number % blockDim.x, number / blockDim.x % blockDim.y,
                        number / blockDim.x / blockDim.y};
  }
  for (unsigned z = 0; z < gridDim.z; ++z) {
    for (unsigned y = 0; y < gridDim.y; ++y) {
      for (unsigned x = 0; x < gridDim.x; ++x) {
        blockIdx = {x, y, z};
        shared.assign(with.shared, kPoison);
        run_block(fibers);
      }
    }
  }
}

template <auto kKernel>
struct Launch;
template <class... P, void (*kKernel)(P...)>
struct Launch<kKernel> {
  static constexpr size_t kSizes[] = {sizeof(P)..., 0};
  static constexpr unsigned kCount = sizeof...(P);

  template <size_t... I>
  static void call(void* const* given, std::index_sequence<I...>) {
    kKernel(*static_cast<P*>(given[I])...);
  }
  static void thread(void* const* given) { call(given, std::index_sequence_for<P...>{}); }
  static void run(const emulated::Image*, const emulated::Run* with) { run_grid(*with, thread); }
};

}  // namespace emulated_hip

// Follows the source text, for each kernel.
#define EMULATED_HIP_KERNEL(name)                                                                \
  extern "C" __attribute__((visibility("default"))) const emulated::Image fake_hip_image_##name; \
  const emulated::Image fake_hip_image_##name = {{'E', 'M', 'U', 'L', 'A', 'T', 'E', 'D'},       \
                                                 0,                                              \
                                                 emulated_hip::Launch<&name>::kCount,            \
                                                 emulated_hip::Launch<&name>::kSizes,            \
                                                 emulated_hip::Launch<&name>::run};

#endif  // FAKE_HIP_RTC_EMULATED_HIP_H_
