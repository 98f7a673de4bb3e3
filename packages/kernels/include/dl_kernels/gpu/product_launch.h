// Launch of matrix products on a GPU. Operands are sources of chunks like gpu/matrix_source.h;
// results go to a sink, the epilogue of the product.
#ifndef DL_KERNELS_GPU_PRODUCT_LAUNCH_H_
#define DL_KERNELS_GPU_PRODUCT_LAUNCH_H_

#include <algorithm>
#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/product_plan.h"
#include "dl_kernels/gpu/product_simt.h"
#include "dl_kernels/gpu/product_tile.h"
#if defined(DL_KERNELS_TENSOR_CORES)
#include "dl_kernels/gpu/product_tensor.h"
#endif

DL_KERNELS_BEGIN

namespace gpu {

// kTf32: float32 rounded to TF32.
template <class T, bool kTf32 = false>
struct ProductKernels {
  using S = product_sum_t<T>;
  // Registers hold few 8-byte sums, and products of integers are rarely large.
  static constexpr bool kHasLarge = kIsFloat<T> && sizeof(T) < 8;
#if defined(DL_KERNELS_TENSOR_CORES)
  static constexpr bool kOnTensorCores = kIsHalf<T> || kTf32;
#else
  static constexpr bool kOnTensorCores = false;
#endif

  static constexpr int rows(bool large) {
#if defined(DL_KERNELS_TENSOR_CORES)
    using Tuning = ProductTuning;
    if constexpr (kOnTensorCores)
      return large ? TensorTile<T, Tuning::kLargeRows, Tuning::kLargeColumns>::kHeight
                   : TensorTile<T, Tuning::kSmallRows, Tuning::kSmallColumns>::kHeight;
#endif
    return kTile * (large ? ProductTuning::kLargeOwn : ProductTuning::kSmallOwn);
  }
  static constexpr int columns(bool large) {
#if defined(DL_KERNELS_TENSOR_CORES)
    using Tuning = ProductTuning;
    if constexpr (kOnTensorCores)
      return large ? TensorTile<T, Tuning::kLargeRows, Tuning::kLargeColumns>::kWidth
                   : TensorTile<T, Tuning::kSmallRows, Tuning::kSmallColumns>::kWidth;
#endif
    return rows(large);
  }

  template <class A, class B, class Output>
  static void run(const Launch& launch, bool large, const ProductShape& shape, const A& a,
                  const B& b, const Output& output) {
#if defined(DL_KERNELS_TENSOR_CORES)
    using Tuning = ProductTuning;
    if constexpr (kOnTensorCores) {
      run_blocks(
          launch.stream(), shape.blocks(),
          large ? tensor_product_kernel<T, Tuning::kLargeRows, Tuning::kLargeColumns, A, B, Output>
                : tensor_product_kernel<T, Tuning::kSmallRows, Tuning::kSmallColumns, A, B, Output>,
          shape, a, b, output);
      return;
    }
#endif
    if constexpr (!kOnTensorCores) {
      auto* kernel = simt_product_kernel<T, ProductTuning::kSmallOwn, A, B, Output>;
      if constexpr (kHasLarge) {
        if (large) kernel = simt_product_kernel<T, ProductTuning::kLargeOwn, A, B, Output>;
      }
      run_blocks(launch.stream(), shape.blocks(), kernel, shape, a, b, output);
    }
  }
};

constexpr int64_t tiles(int64_t extent, int64_t of) { return (extent + of - 1) / of; }

// The heuristic's plan.
template <class T, bool kTf32>
ProductPlan usual_plan(int64_t batch, int64_t m, int64_t n, int64_t k) {
  using Kernels = ProductKernels<T, kTf32>;
  const int64_t large_tiles = tiles(m, Kernels::rows(true)) * tiles(n, Kernels::columns(true));
  // If the sides do not fill half of a large tile, small tiles waste less.
  const bool fills = m > Kernels::rows(true) / 2 && n > Kernels::columns(true) / 2;
  const bool large =
      Kernels::kHasLarge && fills && large_tiles * batch >= ProductTuning::kManyTiles;
  const int64_t blocks = batch * tiles(m, Kernels::rows(large)) * tiles(n, Kernels::columns(large));
  const int64_t wanted =
      std::min(ProductTuning::kBusyBlocks / blocks, k / ProductTuning::kShortestPiece);
  return {large, std::max<int64_t>(wanted, 1)};
}

// Products of `batch` pairs of operands; no size but k may be 0.
template <class T, bool kTf32 = false, class A, class B, class Sink>
void run_product(const Launch& launch, int64_t batch, int64_t m, int64_t n, int64_t k, const A& a,
                 const B& b, const Sink& sink, const ProductPlan& plan) {
  using Kernels = ProductKernels<T, kTf32>;
  using S = typename Kernels::S;
  ProductShape shape{batch, m, n, k, 0, 0, 1, k};
  shape.down = tiles(m, Kernels::rows(plan.large));
  shape.across = tiles(n, Kernels::columns(plan.large));
  if (plan.pieces <= 1) {
    Kernels::run(launch, plan.large, shape, a, b, ProductOutput<S, Sink>{sink, nullptr});
    return;
  }
  shape.piece = tiles(k, plan.pieces * ProductTuning::kDepth) * ProductTuning::kDepth;
  shape.pieces = tiles(k, shape.piece);
  const int64_t count = batch * m * n;
  const Workspace<S> parts(launch, shape.pieces * count);
  Kernels::run(launch, plan.large, shape, a, b, ProductOutput<S, Sink>{sink, parts.data()});
  each(launch, count, shape.pieces,
       SumPiecesItem<S, Sink>{sink, parts.data(), shape.pieces, count, m, n});
}
template <class T, class A, class B, class Sink>
void run_product(const Launch& launch, int64_t batch, int64_t m, int64_t n, int64_t k, const A& a,
                 const B& b, const Sink& sink) {
  run_product<T>(launch, batch, m, n, k, a, b, sink, usual_plan<T, false>(batch, m, n, k));
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_PRODUCT_LAUNCH_H_
