// Definition of gemm_batch, for the compilation unit that instantiates it.
#ifndef DL_KERNELS_GPU_GEMM_BATCH_H_
#define DL_KERNELS_GPU_GEMM_BATCH_H_

#include <algorithm>
#include <type_traits>
#include <utility>

#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/gpu/gemm.h"
#include "dl_kernels/gpu/matrix_source.h"
#include "dl_kernels/gpu/product_launch.h"

DL_KERNELS_BEGIN

namespace gpu {

// One kernel for both output types of half-precision products.
template <class T, class C>
struct GemmSink {
  MatrixSink<T, C> narrow;
  MatrixSink<C, C> wide;  // used instead if it has data

  // Products with dense result columns are transposed as a whole.
  DL_FN bool is_transposed() const { return false; }
  template <class S, int kCount>
  DL_FN void put(int64_t matrix, int64_t i, int64_t j, const S (&sums)[kCount], int count) const {
    if (std::is_same_v<T, C> || wide.data == nullptr) {
      narrow.put(matrix, i, j, sums, count);
    } else {
      wide.put(matrix, i, j, sums, count);
    }
  }
};

// The plan of a product of matrices: the vendor's, if it selects one.
template <class T, bool kTf32>
ProductPlan plan_of(const Launch& launch, int64_t batch, int64_t m, int64_t n, int64_t k,
                    const MatrixSource<T>& a, const MatrixSource<T>& b) {
  const ProductPlan usual = usual_plan<T, kTf32>(batch, m, n, k);
  if (select_product == nullptr) return usual;
  const int64_t most = std::max<int64_t>(k / ProductTuning::kShortestPiece, 1);
  const bool has_large = ProductKernels<T, kTf32>::kHasLarge;
  const ProductCall call{
      launch.stream(),          dtype_of<T>(), kTf32, batch, m, n, k, {a.along_depth, a.whole},
      {b.along_depth, b.whole}, has_large,     most};
  const ProductPlan selected = select_product(call, usual);
  return {has_large && selected.large, std::clamp<int64_t>(selected.pieces, 1, most)};
}

// The product with factors rounded to TF32; false if it is not wanted or not available.
template <class T, class Sink>
bool tf32_product([[maybe_unused]] const Launch& launch, [[maybe_unused]] MatmulPrecision precision,
                  [[maybe_unused]] int64_t batch, [[maybe_unused]] int64_t m,
                  [[maybe_unused]] int64_t n, [[maybe_unused]] int64_t k,
                  [[maybe_unused]] const MatrixSource<T>& a,
                  [[maybe_unused]] const MatrixSource<T>& b, [[maybe_unused]] const Sink& sink) {
#if defined(DL_KERNELS_TENSOR_CORES)
  if constexpr (std::is_same_v<T, float>) {
    using Tuning = ProductTuning;
    // Tensor cores support TF32 from compute capability 8.0 on.
    if (precision == MatmulPrecision::kTf32 &&
        compiled_architecture(
            tensor_product_kernel<T, Tuning::kSmallRows, Tuning::kSmallColumns, MatrixSource<T>,
                                  MatrixSource<T>, ProductOutput<float, Sink>>) >= 80) {
      run_product<T, true>(launch, batch, m, n, k, a, b, sink,
                           plan_of<T, true>(launch, batch, m, n, k, a, b));
      return true;
    }
  }
#endif
  return false;
}

}  // namespace gpu

template <class T, class O, class C>
void gemm_batch(const Launch& launch, int64_t batch, int64_t m, int64_t n, int64_t k, C alpha,
                SteppedMatrix<const T> a, SteppedMatrix<const T> b, C beta, SteppedMatrix<O> c,
                const O* bias, [[maybe_unused]] MatmulPrecision precision) {
  if (batch == 0 || m == 0 || n == 0) return;
  // Stores run along the rows of the result: compute the transposed product if its rows are the
  // dense ones.
  if (c.matrix.row == 1 && c.matrix.column != 1 && bias == nullptr) {
    std::swap(m, n);
    std::swap(a, b);
    a.matrix = a.matrix.transposed();
    b.matrix = b.matrix.transposed();
    c.matrix = c.matrix.transposed();
  }
  gpu::GemmSink<T, C> sink{};
  const gpu::MatrixSink<O, C> own{c.matrix.data, c.step, c.matrix.row, c.matrix.column,
                                  alpha,         beta,   bias};
  if constexpr (std::is_same_v<O, T>) {
    sink.narrow = own;
  } else {
    sink.wide = own;
  }
  // A grid has at most INT_MAX blocks.
  constexpr int64_t kMost = int64_t(1) << 20;
  for (int64_t first = 0; first < batch; first += kMost) {
    const int64_t count = std::min(batch - first, kMost);
    const gpu::MatrixSource<T> left(a.matrix, a.step, m, k);
    const gpu::MatrixSource<T> right(b.matrix.transposed(), b.step, n, k);
    if (!gpu::tf32_product(launch, precision, count, m, n, k, left, right, sink))
      gpu::run_product<T>(launch, count, m, n, k, left, right, sink,
                          gpu::plan_of<T, false>(launch, count, m, n, k, left, right));
    a.matrix.data += kMost * a.step;
    b.matrix.data += kMost * b.step;
    if (sink.narrow.data != nullptr) sink.narrow.data += kMost * c.step;
    if (sink.wide.data != nullptr) sink.wide.data += kMost * c.step;
  }
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_GEMM_BATCH_H_
