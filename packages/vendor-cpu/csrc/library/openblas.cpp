// OpenBLAS as scipy-openblas32 packs it: matrix products where there is no oneDNN, and in double.
#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>

#include "library/find.h"
#include "library/libraries.h"

namespace dl::cpu::openblas {
namespace {

using kernels::GemmCall;
using kernels::Launch;
using kernels::MatrixBatch;

// Our own declarations of CBLAS with 32-bit sizes.
enum Order : int { kRowMajor = 101 };
enum Transpose : int { kNo = 111, kYes = 112 };
template <class T>
using Gemm = void (*)(Order, Transpose, Transpose, int, int, int, T, const T*, int, const T*, int,
                      T, T*, int);

struct Runtime {
  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;
  void (*set_threads)(int) = nullptr;
  const char* (*config)() = nullptr;  // null in builds without it
  // The number of threads is one for the process.
  std::mutex mutex;
  int threads = 0;
};

std::unique_ptr<Runtime> load() {
  void* library = open_library("DL_CPU_OPENBLAS", {"scipy_openblas32/lib/libscipy_openblas.so", ""},
                               "libscipy_openblas.so");
  if (library == nullptr) return nullptr;
  auto made = std::make_unique<Runtime>();
  made->sgemm = reinterpret_cast<Gemm<float>>(dlsym(library, "scipy_cblas_sgemm"));
  made->dgemm = reinterpret_cast<Gemm<double>>(dlsym(library, "scipy_cblas_dgemm"));
  made->set_threads =
      reinterpret_cast<void (*)(int)>(dlsym(library, "scipy_openblas_set_num_threads"));
  made->config = reinterpret_cast<const char* (*)()>(dlsym(library, "scipy_openblas_get_config"));
  if (made->sgemm == nullptr || made->dgemm == nullptr || made->set_threads == nullptr)
    return nullptr;
  return made;
}

Runtime* runtime() {
  static Runtime* const loaded = load().release();
  return loaded;
}

// Smaller products take less time here than the library needs to begin.
constexpr int64_t kSmallest = 32768;

bool fits(int64_t value) { return value <= INT32_MAX; }

// The leading dimension of a matrix that is dense along rows (kNo) or columns (kYes).
template <class Data>
bool leading(const MatrixBatch<Data>& matrix, int64_t rows, int64_t columns, Transpose* transpose,
             int* stride) {
  int64_t found = 0;
  if ((matrix.column == 1 || columns == 1) && (matrix.row >= columns || rows == 1)) {
    *transpose = kNo;
    found = rows == 1 ? columns : matrix.row;
  } else if ((matrix.row == 1 || rows == 1) && (matrix.column >= rows || columns == 1)) {
    *transpose = kYes;
    found = columns == 1 ? rows : matrix.column;
  } else {
    return false;
  }
  if (!fits(found)) return false;
  *stride = static_cast<int>(found);
  return true;
}

// The bias in every row of c, which the product is added to.
template <class T>
void write_bias(const Launch& launch, const GemmCall& call) {
  const int64_t bytes = call.n * static_cast<int64_t>(sizeof(T));
  launch.parallel_for(
      call.batch * call.m, kernels::grain_for(call.n), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          T* row =
              static_cast<T*>(call.c.data) + i / call.m * call.c.step + i % call.m * call.c.row;
          std::memcpy(row, call.bias, bytes);
        }
      });
}

template <class T>
bool multiply(Runtime& blas, Gemm<T> gemm, const Launch& launch, const GemmCall& call) {
  Transpose a_side, b_side, c_side;
  int a_stride, b_stride, c_stride;
  if (!leading(call.a, call.m, call.k, &a_side, &a_stride) ||
      !leading(call.b, call.k, call.n, &b_side, &b_stride) ||
      !leading(call.c, call.m, call.n, &c_side, &c_stride) || c_side != kNo)
    return false;
  if (call.bias != nullptr) write_bias<T>(launch, call);
  const T beta = call.bias == nullptr ? static_cast<T>(call.beta) : T(1);
  const std::lock_guard<std::mutex> lock(blas.mutex);
  const int threads = static_cast<int>(choices::OneThread::threads(launch));
  if (threads != blas.threads) blas.set_threads(blas.threads = threads);
  for (int64_t i = 0; i < call.batch; ++i) {
    gemm(kRowMajor, a_side, b_side, static_cast<int>(call.m), static_cast<int>(call.n),
         static_cast<int>(call.k), static_cast<T>(call.alpha),
         static_cast<const T*>(call.a.data) + i * call.a.step, a_stride,
         static_cast<const T*>(call.b.data) + i * call.b.step, b_stride, beta,
         static_cast<T*>(call.c.data) + i * call.c.step, c_stride);
  }
  return true;
}

}  // namespace

std::string version() {
  if (runtime() == nullptr) return "no OpenBLAS";
  return runtime()->config == nullptr ? "OpenBLAS" : runtime()->config();
}

bool serves(const GemmCall& call) {
  return (call.dtype == diopi_dtype_float64 || call.dtype == diopi_dtype_float32) &&
         (call.bias == nullptr || (call.alpha == 1 && call.beta == 0)) && runtime() != nullptr;
}

bool gemm(const Launch& launch, const GemmCall& call, bool chosen) {
  if (!serves(call) || (!chosen && call.m * call.n * call.k < kSmallest) || !fits(call.m) ||
      !fits(call.n) || !fits(call.k))
    return false;
  Runtime* blas = runtime();
  if (call.c.column != 1 && call.n != 1) {
    if (call.c.row != 1 || call.bias != nullptr) return false;
    return gemm(launch,
                {call.dtype, call.out_dtype, call.batch, call.n, call.m, call.k, call.alpha,
                 call.beta, call.b.transposed(), call.a.transposed(), call.c.transposed(), nullptr},
                chosen);
  }
  return call.dtype == diopi_dtype_float64 ? multiply(*blas, blas->dgemm, launch, call)
                                           : multiply(*blas, blas->sgemm, launch, call);
}

}  // namespace dl::cpu::openblas
