// Gradients of matrix products with broadcast leading dimensions.
#ifndef DL_KERNELS_MATRIX_PRODUCT_GRADIENT_H_
#define DL_KERNELS_MATRIX_PRODUCT_GRADIENT_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/dense.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/layout/plan.h"
#include "dl_kernels/matrix/matrix_calls.h"
#include "dl_kernels/matrix/multiply.h"
#include "dl_kernels/reduce/reduce.h"

DL_KERNELS_BEGIN

// The leading dimensions of a product [m, k] · [k, n], and m, n and k.
struct BatchShape {
  int64_t sizes[kMaxDims];
  int64_t ndim, numel;
  int64_t rows, columns, inner;
};

// Derive the shape from a product and its factors, each of which may be a vector.
inline diopiError_t product_batch(const char* op, const TensorRef& product, const TensorRef& left,
                                  const TensorRef& right, BatchShape* shape) {
  const int64_t l = left.ndim > 1 ? left.ndim - 2 : 0, r = right.ndim > 1 ? right.ndim - 2 : 0;
  const int64_t matrix_dims = (left.ndim > 1 ? 1 : 0) + (right.ndim > 1 ? 1 : 0);
  *shape = {{}, l > r ? l : r, 1, 1, 1, left.sizes[left.ndim - 1]};
  if (left.ndim > 1) shape->rows = left.sizes[left.ndim - 2];
  if (right.ndim > 1) shape->columns = right.sizes[right.ndim - 1];
  bool fits = product.ndim == shape->ndim + matrix_dims &&
              right.sizes[right.ndim > 1 ? right.ndim - 2 : 0] == shape->inner;
  for (int64_t d = 0; fits && d < shape->ndim; ++d) {
    const int64_t x = d - (shape->ndim - l), y = d - (shape->ndim - r);
    const int64_t of_left = x < 0 ? 1 : left.sizes[x], of_right = y < 0 ? 1 : right.sizes[y];
    fits = of_left == of_right || of_left == 1 || of_right == 1;
    shape->sizes[d] = of_left == 1 ? of_right : of_left;
    shape->numel *= shape->sizes[d];
    fits = fits && product.sizes[d] == shape->sizes[d];
  }
  int64_t d = shape->ndim;
  if (fits && left.ndim > 1) fits = product.sizes[d++] == shape->rows;
  if (fits && right.ndim > 1) fits = product.sizes[d] == shape->columns;
  return fits ? diopiSuccess : fail(op, "the gradient does not have the product's shape");
}

// A factor of a batch of products, in contiguous memory.
template <class T>
struct BatchedFactor {
  Operand<T> first;
  Plan<1> batch;
  bool broadcast;

  Operand<T> at(int64_t i) const {
    int64_t offsets[1];
    offsets_of(batch, i, offsets);
    Operand<T> operand = first;
    operand.matrix.data += offsets[0];
    return operand;
  }
};

namespace detail {

// Matrices of `rows` and `columns` with the batch strides of their tensor.
template <class T>
BatchedFactor<T> factor_of(const BatchShape& shape, const T* data, int64_t columns,
                           const int64_t* strides) {
  BatchedFactor<T> factor{{{data, columns, 1}, 0, false}, {}, false};
  factor.batch.ndim = static_cast<int>(shape.ndim);
  factor.batch.numel = shape.numel;
  for (int64_t d = 0; d < shape.ndim; ++d) {
    factor.batch.shape[d] = shape.sizes[d];
    factor.batch.strides[0][d] = strides[d];
    factor.broadcast = factor.broadcast || (strides[d] == 0 && shape.sizes[d] != 1);
  }
  simplify(factor.batch);
  return factor;
}

}  // namespace detail

// A contiguous tensor that `product_batch` has checked, as the left or the right factor.
template <class T>
BatchedFactor<T> batched_factor(const BatchShape& shape, const TensorRef& tensor, bool left) {
  const int64_t dims = tensor.ndim > 1 ? tensor.ndim - 2 : 0;
  int64_t strides[kMaxDims] = {};
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t at = shape.ndim - dims + d;
    strides[at] = tensor.sizes[d] == 1 ? 0 : tensor.strides[d];
  }
  return detail::factor_of(shape, tensor.as<const T>(), left ? shape.inner : shape.columns,
                           strides);
}

// The products themselves, or a gradient of their shape.
template <class T>
BatchedFactor<T> whole_batch(const BatchShape& shape, const T* data) {
  int64_t strides[kMaxDims], next = shape.rows * shape.columns;
  for (int64_t d = shape.ndim - 1; d >= 0; --d) {
    strides[d] = next;
    next *= shape.sizes[d];
  }
  return detail::factor_of(shape, data, shape.columns, strides);
}

// Expand `from`, whose leading dimensions broadcast to the batch's, to one matrix of
// `elements` elements per batch entry.
template <class T>
diopiError_t repeat_matrices(diopiContextHandle_t ctx, const char* op, const BatchShape& shape,
                             int64_t elements, T* to, const TensorRef& from) {
  int64_t sizes[kMaxDims], strides[kMaxDims];
  TensorRef target = from;
  target.ndim = shape.ndim + 2;
  for (int64_t d = 0; d < target.ndim; ++d)
    sizes[d] = d < shape.ndim ? shape.sizes[d] : from.sizes[from.ndim - target.ndim + d];
  target.sizes = sizes;
  target.numel = shape.numel * elements;
  return copy_elements(ctx, op, detail::array_like(to, target, strides), from);
}

namespace detail {

// Implementation of sum_broadcast for floats.
template <class T, class C>
diopiError_t sum_floats(diopiContextHandle_t ctx, const char* op, const BatchShape& shape,
                        int64_t elements, const int64_t* to_sizes, int64_t dims, T* to,
                        const C* from) {
  int64_t sizes[2][kMaxDims], strides[2][kMaxDims];
  TensorRef sides[2] = {};
  uint32_t mask = 0;
  for (int64_t d = 0; d <= shape.ndim; ++d) {
    const int64_t e = d - (shape.ndim - dims);
    sizes[1][d] = d == shape.ndim ? elements : shape.sizes[d];
    sizes[0][d] = d == shape.ndim ? elements : e < 0 ? 1 : to_sizes[e];
    if (d < shape.ndim && sizes[0][d] != sizes[1][d]) mask |= uint32_t(1) << d;
  }
  for (int side = 0; side < 2; ++side) {
    sides[side].numel = 1;
    sides[side].ndim = shape.ndim + 1;
    for (int64_t d = shape.ndim; d >= 0; --d) {
      strides[side][d] = sides[side].numel;
      sides[side].numel *= sizes[side][d];
    }
    sides[side].sizes = sizes[side];
    sides[side].strides = strides[side];
    sides[side].contiguous = true;
  }
  sides[0].data = to;
  sides[1].data = const_cast<C*>(from);
  sides[0].dtype = dtype_of<T>();
  sides[1].dtype = dtype_of<C>();
  return reduce<C, kFloats>(ctx, op, SumReducer<C>{}, sides[0], sides[1], mask);
}

}  // namespace detail

// Sum `from`, contiguous matrices of `elements` elements for each batch entry, over the dimensions
// along which `to` is broadcast. The leading dimensions of `to` are the last `dims` of the batch.
template <class T, class C>
diopiError_t sum_broadcast(diopiContextHandle_t ctx, const char* op, const BatchShape& shape,
                           int64_t elements, const int64_t* to_sizes, int64_t dims, T* to,
                           const C* from) {
  if constexpr (kIsComplex<T>) {
    // Complex sums are sums of the parts: the last dimension is twice as long.
    using R = real_t<T>;
    return sum_broadcast(ctx, op, shape, 2 * elements, to_sizes, dims, reinterpret_cast<R*>(to),
                         reinterpret_cast<const R*>(from));
  } else {
    return detail::sum_floats(ctx, op, shape, elements, to_sizes, dims, to, from);
  }
}

namespace detail {

// Multiply with the vendor's library, if it supports these products and their matrices have a
// constant stride. O is the element type of the products.
template <class T, class O>
bool products_by_library(const Launch& launch, int64_t batch, int64_t m, int64_t n, int64_t k,
                         const BatchedFactor<T>& left, const BatchedFactor<T>& right, O* to) {
  if constexpr (kIsFloat<T>) {
    if (batch == 0 || (batch > 1 && (left.batch.ndim > 1 || right.batch.ndim > 1))) return false;
    const auto matrices = [](const BatchedFactor<T>& factor) {
      const Matrix<const T>& first = factor.first.matrix;
      return MatrixBatch<const void>{first.data, factor.batch.strides[0][0], first.row,
                                     first.column};
    };
    return matmul_by_library(launch, {dtype_of<T>(),
                                      dtype_of<O>(),
                                      batch,
                                      m,
                                      n,
                                      k,
                                      1,
                                      0,
                                      matrices(left),
                                      matrices(right),
                                      {to, m * n, n, 1},
                                      nullptr});
  } else {
    return false;
  }
}

}  // namespace detail

// to = left · right, [m, k] times [k, n], summed over the batch dimensions along which `to` is
// broadcast.
template <class T>
diopiError_t product_gradient(diopiContextHandle_t ctx, const char* op, const BatchShape& shape,
                              int64_t m, int64_t n, int64_t k, const BatchedFactor<T>& left,
                              const BatchedFactor<T>& right, const int64_t* to_sizes, int64_t dims,
                              int64_t to_numel, T* to) {
  using C = compute_t<T>;
  using R = real_t<C>;
  const Launch launch(ctx);
  const auto products = [&](auto* target) {
    using O = std::remove_pointer_t<decltype(target)>;
    if (detail::products_by_library(launch, shape.numel, m, n, k, left, right, target)) return;
#if defined(DL_KERNELS_GEMM_BATCH)
    if (!kIsComplex<T> && left.batch.ndim <= 1 && right.batch.ndim <= 1) {
      const auto stepped = [](const BatchedFactor<T>& factor) {
        Operand<T> operand = factor.first;
        operand.step = factor.batch.ndim == 0 ? 0 : factor.batch.strides[0][0];
        return operand;
      };
      multiply_batch<T, O>(launch, shape.numel, m, n, k, R(1), stepped(left), stepped(right), R(0),
                           Matrix<O>{target, n, 1}, m * n, launch.matmul_precision());
      return;
    }
#endif
    launch.parallel_for(shape.numel, grain_for(m * n * k), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        multiply_batch<T, O>(launch, 1, m, n, k, R(1), left.at(i), right.at(i), R(0),
                             Matrix<O>{target + i * m * n, n, 1}, 0, launch.matmul_precision());
    });
  };
  if (to_numel == 0) return diopiSuccess;
  if (to_numel == shape.numel * m * n) {
    products(to);
    return diopiSuccess;
  }
  // If the matrices of both factors are stacked in memory, the sum is a single product.
  const Operand<T>&x = left.first, &y = right.first;
  if (to_numel == m * n && !left.broadcast && !right.broadcast && x.matrix.row == 1 &&
      y.matrix.column == 1 && x.matrix.column == m && y.matrix.row == n) {
    const int64_t all = k * shape.numel;
    if (!detail::products_by_library(launch, 1, m, n, all, left, right, to))
      multiply_batch<T>(launch, 1, m, n, all, R(1), x, y, R(0), Matrix<T>{to, n, 1}, 0,
                        launch.matmul_precision());
    return diopiSuccess;
  }
  const Workspace<C> all(launch, shape.numel * m * n);
  products(all.data());
  return sum_broadcast(ctx, op, shape, m * n, to_sizes, dims, to, all.data());
}

DL_KERNELS_END

#endif  // DL_KERNELS_MATRIX_PRODUCT_GRADIENT_H_
