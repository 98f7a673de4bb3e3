// OpenBLAS as packaged by scipy-openblas32: matrix products in double, and in float without oneDNN.
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

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
  const char* (*config)() = nullptr;  // null in builds that lack it
  bool wide = true;
};

// Return true if its kernels use registers as wide as ours.
bool is_wide([[maybe_unused]] void* library) {
#if defined(__AVX512F__)
  const auto core =
      reinterpret_cast<const char* (*)()>(dlsym(library, "scipy_openblas_get_corename"));
  if (core == nullptr) return true;
  const std::string name = core();
  return name == "SkylakeX" || name == "Cooperlake" || name == "SapphireRapids";
#else
  return true;
#endif
}

std::unique_ptr<Runtime> load() {
  void* library = open_library("DL_CPU_OPENBLAS", {"scipy_openblas32/lib/libscipy_openblas.so", ""},
                               "libscipy_openblas.so");
  if (library == nullptr) return nullptr;
  auto created = std::make_unique<Runtime>();
  created->sgemm = reinterpret_cast<Gemm<float>>(dlsym(library, "scipy_cblas_sgemm"));
  created->dgemm = reinterpret_cast<Gemm<double>>(dlsym(library, "scipy_cblas_dgemm"));
  created->config =
      reinterpret_cast<const char* (*)()>(dlsym(library, "scipy_openblas_get_config"));
  const auto set_threads =
      reinterpret_cast<void (*)(int)>(dlsym(library, "scipy_openblas_set_num_threads"));
  if (created->sgemm == nullptr || created->dgemm == nullptr || set_threads == nullptr)
    return nullptr;
  created->wide = is_wide(library);
  // Use one thread: OpenBLAS has its own pool, whose threads spin after a product for a while, like
  // the host's. With as many threads as processors in both, each pool waits for the other:
  // products alternating with oneDNN's took six times as long.
  set_threads(1);
  return created;
}

const Runtime* runtime() {
  static const Runtime* const loaded = load().release();
  return loaded;
}

// Our own kernels finish smaller products within OpenBLAS's overhead per call.
constexpr int64_t kSmallest = 32768;

bool fits(int64_t value) { return value <= INT32_MAX; }

// Return the leading dimension of a matrix that is dense along rows (kNo) or columns (kYes).
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

// Initialize every row of c with the bias, to which the product is added.
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

// A result of `rows` x `columns` in a grid of rectangles, each computed by one thread.
class Grid {
 public:
  Grid(int64_t rows, int64_t columns, int64_t cells) : rows_(rows), columns_(columns) {
    // Choose the division that reads the least of the operands.
    for (int64_t across = 1; across <= cells; ++across) {
      if (cells % across != 0) continue;
      const auto read = [&](int64_t parts) { return rows / (cells / parts) + columns / parts; };
      if (read(across) < read(across_)) across_ = across;
    }
    down_ = cells / across_;
  }

  struct Part {
    int64_t row, column, rows, columns;
  };
  Part part(int64_t cell) const {
    const int64_t row = edge(rows_, down_, cell / across_);
    const int64_t column = edge(columns_, across_, cell % across_);
    return {row, column, edge(rows_, down_, cell / across_ + 1) - row,
            edge(columns_, across_, cell % across_ + 1) - column};
  }

 private:
  // Edges are at multiples of the library's tiles, of up to 16 rows or columns.
  static int64_t edge(int64_t size, int64_t parts, int64_t number) {
    constexpr int64_t kStep = 16;
    if (number == parts) return size;
    return std::min(size, (size * number / parts + kStep / 2) / kStep * kStep);
  }

  const int64_t rows_, columns_;
  int64_t down_, across_ = 1;
};

// Return the number of parts of each matrix of a batch that balances the work of all threads.
int64_t cells_of(const GemmCall& call, int64_t threads) {
  if (call.batch % threads == 0 || call.batch >= 8 * threads) return 1;
  return std::clamp<int64_t>(call.m * call.n * call.k / kSmallest, 1, threads);
}

template <class T>
bool multiply(Gemm<T> gemm, const Launch& launch, const GemmCall& call) {
  Transpose a_side, b_side, c_side;
  int a_stride, b_stride, c_stride;
  if (!leading(call.a, call.m, call.k, &a_side, &a_stride) ||
      !leading(call.b, call.k, call.n, &b_side, &b_stride) ||
      !leading(call.c, call.m, call.n, &c_side, &c_stride) || c_side != kNo)
    return false;
  if (call.bias != nullptr) write_bias<T>(launch, call);
  const T beta = call.bias == nullptr ? static_cast<T>(call.beta) : T(1);
  const int64_t threads = choices::OneThread::threads(launch);
  const int64_t cells = cells_of(call, threads);
  const Grid grid(call.m, call.n, cells);
  const auto some = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Grid::Part part = grid.part(i % cells);
      if (part.rows == 0 || part.columns == 0) continue;
      const T* a = static_cast<const T*>(call.a.data) + i / cells * call.a.step;
      const T* b = static_cast<const T*>(call.b.data) + i / cells * call.b.step;
      T* c = static_cast<T*>(call.c.data) + i / cells * call.c.step;
      gemm(kRowMajor, a_side, b_side, static_cast<int>(part.rows), static_cast<int>(part.columns),
           static_cast<int>(call.k), static_cast<T>(call.alpha),
           a + part.row * (a_side == kNo ? a_stride : 1), a_stride,
           b + part.column * (b_side == kNo ? 1 : b_stride), b_stride, beta,
           c + part.row * c_stride + part.column, c_stride);
    }
  };
  const int64_t count = call.batch * cells;
  if (threads == 1) {
    some(0, count);
  } else {
    const int64_t least = kSmallest / std::max<int64_t>(1, call.m * call.n * call.k / cells);
    launch.parallel_for(count, std::max<int64_t>(1, least), some);
  }
  return true;
}

}  // namespace

std::string version() {
  if (runtime() == nullptr) return "no OpenBLAS";
  return runtime()->config == nullptr ? "OpenBLAS" : runtime()->config();
}

bool uses_wide_registers() { return runtime() == nullptr || runtime()->wide; }

bool serves(const GemmCall& call) {
  return (call.dtype == diopi_dtype_float64 || call.dtype == diopi_dtype_float32) &&
         (call.bias == nullptr || (call.alpha == 1 && call.beta == 0)) && runtime() != nullptr;
}

bool gemm(const Launch& launch, const GemmCall& call, bool chosen) {
  if (!serves(call) || (!chosen && call.m * call.n * call.k < kSmallest) || !fits(call.m) ||
      !fits(call.n) || !fits(call.k))
    return false;
  const Runtime* const blas = runtime();
  if (call.c.column != 1 && call.n != 1) {
    if (call.c.row != 1 || call.bias != nullptr) return false;
    return gemm(launch,
                {call.dtype, call.out_dtype, call.batch, call.n, call.m, call.k, call.alpha,
                 call.beta, call.b.transposed(), call.a.transposed(), call.c.transposed(), nullptr},
                chosen);
  }
  return call.dtype == diopi_dtype_float64 ? multiply(blas->dgemm, launch, call)
                                           : multiply(blas->sgemm, launch, call);
}

}  // namespace dl::cpu::openblas
