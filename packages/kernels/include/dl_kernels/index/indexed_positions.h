// Advanced indexing, as in `x[i, :, j]`: the positions selected by several index tensors, as
// offsets within the indexed dimensions, and the dimensions that are kept whole.
#ifndef DL_KERNELS_INDEX_INDEXED_POSITIONS_H_
#define DL_KERNELS_INDEX_INDEXED_POSITIONS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/dense.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/index/add_offsets.h"
#include "dl_kernels/index/checked_positions.h"
#include "dl_kernels/index/nonzero_positions.h"
#include "dl_kernels/layout/plan.h"
#include "dl_kernels/layout/reduce_plan.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

class IndexedPositions {
 public:
  // An entry of `indices` is NULL, an index tensor, or a boolean mask over as many dimensions as it
  // has.
  diopiError_t open(diopiContextHandle_t ctx, const char* op, const TensorRef& tensor,
                    diopiConstTensorHandle_t* indices, int64_t count);

  // Shape of the result: whole dimensions, the broadcast index dimensions, then whole dimensions.
  int64_t ndim() const { return ndim_; }
  const int64_t* sizes() const { return sizes_; }
  int64_t numel() const { return numel_; }
  int64_t first() const { return first_; }
  int64_t broadcast_dims() const { return broadcast_dims_; }
  // Strides of the tensor along the whole dimensions of the result.
  const int64_t* strides() const { return strides_; }
  // The element offsets of the indexed positions are places()[i] · scale().
  int64_t count() const { return positions_count_; }
  const int64_t* positions() const { return positions_; }
  int64_t scale() const { return scale_; }

 private:
  // One indexed dimension of the tensor.
  struct IndexedDim {
    TensorRef tensor;
    int64_t dim;
    int64_t length;  // number of positions if they come from a mask
  };

  diopiError_t add_mask(diopiContextHandle_t ctx, const char* op, const TensorRef& tensor,
                        const TensorRef& mask, int64_t dim);
  diopiError_t broadcast(const char* op);
  void shape(const TensorRef& tensor);
  Plan<1> repeated(const TensorRef& index) const;
  diopiError_t locate(diopiContextHandle_t ctx, const char* op, const TensorRef& tensor);

  int64_t found_ = 0;
  IndexedDim indexed_dims_[kMaxDims];
  Workspace<int64_t> masked_[kMaxDims];
  int64_t ndim_ = 0, numel_ = 1, first_ = 0, broadcast_dims_ = 0, positions_count_ = 1, scale_ = 1;
  int64_t sizes_[2 * kMaxDims], strides_[2 * kMaxDims], broadcast_sizes_[kMaxDims];
  Workspace<int64_t> sum_, copy_;
  const int64_t* positions_ = nullptr;
};

inline diopiError_t IndexedPositions::add_mask(diopiContextHandle_t ctx, const char* op,
                                               const TensorRef& tensor, const TensorRef& mask,
                                               int64_t dim) {
  if (mask.ndim == 0) return diopiNoImplement;
  for (int64_t e = 0; e < mask.ndim; ++e) {
    if (dim + e >= tensor.ndim || mask.sizes[e] != tensor.sizes[dim + e]) {
      return fail(op, "the mask has %lld elements in dim %lld, unlike the tensor in dim %lld",
                  (long long)mask.sizes[e], (long long)e, (long long)(dim + e));
    }
  }
  const Launch launch(ctx);
  Workspace<Bool> dense;
  const Bool* chosen = mask.as<const Bool>();
  if (!mask.contiguous) {
    Bool* copy = dense.reserve(launch, mask.numel);
    int64_t strides[kMaxDims];
    DL_TRY(copy_elements(ctx, op, detail::array_like(copy, mask, strides), mask));
    chosen = copy;
  }
  const NonzeroPositions<Bool> found(launch, chosen, mask.numel);
  const int64_t length = found.count();
  int64_t* to[kMaxDims];
  for (int64_t e = 0; e < mask.ndim; ++e) {
    to[e] = masked_[found_].reserve(launch, length);
    IndexedDim& added = indexed_dims_[found_++];
    added.tensor = TensorRef{to[e], nullptr, nullptr, 1, length, diopi_dtype_int64, true};
    added.dim = dim + e;
    added.length = length;
  }
  found.coordinates(mask.sizes, mask.ndim, to, 1);
  return diopiSuccess;
}

inline diopiError_t IndexedPositions::broadcast(const char* op) {
  static const int64_t one = 1;
  for (int64_t k = 0; k < found_; ++k) {
    IndexedDim& each = indexed_dims_[k];
    if (each.tensor.sizes == nullptr) {
      each.tensor.sizes = &each.length;
      each.tensor.strides = &one;
    }
    if (each.tensor.ndim > broadcast_dims_) broadcast_dims_ = each.tensor.ndim;
  }
  for (int64_t d = 0; d < broadcast_dims_; ++d) {
    broadcast_sizes_[d] = 1;
    for (int64_t k = 0; k < found_; ++k) {
      const TensorRef& each = indexed_dims_[k].tensor;
      const int64_t e = d - (broadcast_dims_ - each.ndim);
      if (e < 0 || each.sizes[e] == 1) continue;
      if (broadcast_sizes_[d] != 1 && broadcast_sizes_[d] != each.sizes[e]) {
        return fail(op, "index tensors with %lld and %lld elements in dim %lld do not broadcast",
                    (long long)broadcast_sizes_[d], (long long)each.sizes[e], (long long)d);
      }
      broadcast_sizes_[d] = each.sizes[e];
    }
    positions_count_ *= broadcast_sizes_[d];
  }
  return diopiSuccess;
}

// The index dimensions stay in place if the indexed dimensions are adjacent, and move to the front
// otherwise, as in NumPy.
inline void IndexedPositions::shape(const TensorRef& tensor) {
  const bool together = indexed_dims_[found_ - 1].dim - indexed_dims_[0].dim == found_ - 1;
  first_ = together ? indexed_dims_[0].dim : 0;
  int64_t next = 0;
  for (int64_t d = 0; d <= tensor.ndim; ++d) {
    if (ndim_ == first_ && next == 0) {
      for (int64_t e = 0; e < broadcast_dims_; ++e) {
        sizes_[ndim_] = broadcast_sizes_[e];
        strides_[ndim_++] = 0;
      }
      next = 1;
    }
    bool indexed = d == tensor.ndim;
    for (int64_t k = 0; k < found_; ++k) indexed |= indexed_dims_[k].dim == d;
    if (indexed) continue;
    sizes_[ndim_] = tensor.sizes[d];
    strides_[ndim_++] = tensor.strides[d];
  }
  for (int64_t d = 0; d < ndim_; ++d) numel_ *= sizes_[d];
}

// The contiguous elements of an index tensor, broadcast to the positions.
inline Plan<1> IndexedPositions::repeated(const TensorRef& index) const {
  Plan<1> plan;
  plan.ndim = static_cast<int>(broadcast_dims_);
  plan.numel = positions_count_;
  int64_t next = 1;
  for (int64_t d = broadcast_dims_ - 1; d >= 0; --d) {
    const int64_t own = d - (broadcast_dims_ - index.ndim);
    const bool repeats = own < 0 || index.sizes[own] == 1;
    plan.shape[d] = broadcast_sizes_[d];
    plan.strides[0][d] = repeats ? 0 : next;
    if (!repeats) next *= index.sizes[own];
  }
  return plan;
}

inline diopiError_t IndexedPositions::locate(diopiContextHandle_t ctx, const char* op,
                                             const TensorRef& tensor) {
  const Launch launch(ctx);
  int64_t* sum = nullptr;
  for (int64_t k = 0; k < found_; ++k) {
    const IndexedDim& each = indexed_dims_[k];
    const int64_t extent = tensor.sizes[each.dim], stride = tensor.strides[each.dim];
    const DenseInput<int64_t> dense(ctx, op, each.tensor);
    DL_TRY(dense.status());
    Workspace<int64_t> room;
    CheckedPositions checked;
    if (numel_ == 0) {
      checked.open_unchecked(dense.data(), each.tensor.numel);
    } else {
      DL_TRY(checked.open(launch, op, dense.data(), each.tensor.numel, each.dim, extent,
                          found_ == 1 ? copy_ : room));
    }
    const int64_t* from = checked.data();
    const bool whole = each.tensor.numel == positions_count_;
    const bool lasts = checked.lasts(each.tensor.as<const int64_t>());
    if (found_ == 1 && whole && !checked.from_end() && lasts) {
      positions_ = from;
      scale_ = stride;
      return diopiSuccess;
    }
    if (sum == nullptr) {
      sum = sum_.reserve(launch, positions_count_);
      clear_bytes(launch, sum, positions_count_ * static_cast<int64_t>(sizeof(int64_t)));
    }
    const detail::AddOffset add{sum, from, extent, stride};
    if (whole) {
      detail::add_offsets(launch, add, positions_count_);
    } else {
      detail::add_broadcast_offsets(launch, add, repeated(each.tensor));
    }
  }
  positions_ = sum;
  return diopiSuccess;
}

inline diopiError_t IndexedPositions::open(diopiContextHandle_t ctx, const char* op,
                                           const TensorRef& tensor,
                                           diopiConstTensorHandle_t* indices, int64_t count) {
  if (tensor.ndim > kMaxDims) return diopiNoImplement;
  int64_t dim = 0;
  for (int64_t k = 0; k < count; ++k) {
    if (indices[k] == nullptr) {
      ++dim;
      continue;
    }
    const TensorRef index = ref(indices[k]);
    if (index.ndim > kMaxDims) return diopiNoImplement;
    const bool mask = index.dtype == diopi_dtype_bool || index.dtype == diopi_dtype_uint8;
    if (!mask && index.dtype != diopi_dtype_int64 && index.dtype != diopi_dtype_int32)
      return diopiDtypeNotSupported;
    if (dim + (mask ? index.ndim : 1) > tensor.ndim) {
      return fail(op, "too many indices for a tensor with %lld dimensions", (long long)tensor.ndim);
    }
    if (mask) {
      DL_TRY(add_mask(ctx, op, tensor, index, dim));
      dim += index.ndim;
    } else {
      indexed_dims_[found_++] = {index, dim++, 0};
    }
  }
  if (found_ == 0) return fail(op, "no index tensor was given; name one, or copy the tensor");
  DL_TRY(broadcast(op));
  if (broadcast_dims_ + tensor.ndim - found_ > kMaxDims) return diopiNoImplement;
  shape(tensor);
  return locate(ctx, op, tensor);
}

DL_KERNELS_END

#endif  // DL_KERNELS_INDEX_INDEXED_POSITIONS_H_
