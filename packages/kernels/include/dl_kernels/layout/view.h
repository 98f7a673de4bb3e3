// Views of tensors: slices and other reinterpretations without a copy.
#ifndef DL_KERNELS_LAYOUT_VIEW_H_
#define DL_KERNELS_LAYOUT_VIEW_H_

#include <cstdint>
#include <cstring>

#include "dl/dtype.h"
#include "dl_kernels/base/config.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"

DL_KERNELS_BEGIN

// Return the dtype of the real and imaginary parts of a complex dtype; a real dtype is returned
// unchanged.
inline diopiDtype_t real_of(diopiDtype_t dtype) {
  switch (dtype) {
    case diopi_dtype_complex32:
      return diopi_dtype_float16;
    case diopi_dtype_complex64:
      return diopi_dtype_float32;
    case diopi_dtype_complex128:
      return diopi_dtype_float64;
    default:
      return dtype;
  }
}

inline bool is_complex(diopiDtype_t dtype) { return real_of(dtype) != dtype; }

// A view with at most kMaxDims dimensions. Refs to it are valid as long as the view.
class View {
 public:
  explicit View(const TensorRef& tensor) : seen_(tensor) {
    for (int64_t d = 0; d < tensor.ndim; ++d) {
      sizes_[d] = tensor.sizes[d];
      strides_[d] = tensor.strides[d];
    }
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  // Keep `count` positions along `dim`, beginning with `start`, with the step `step`.
  View& narrow(int64_t dim, int64_t start, int64_t count, int64_t step = 1) {
    if (count > 0) move(start * strides_[dim]);
    sizes_[dim] = count;
    strides_[dim] *= step;
    return *this;
  }

  // Remove `dim` by selecting one position.
  View& select(int64_t dim, int64_t at) {
    move(at * strides_[dim]);
    for (int64_t d = dim + 1; d < seen_.ndim; ++d) {
      sizes_[d - 1] = sizes_[d];
      strides_[d - 1] = strides_[d];
    }
    --seen_.ndim;
    return *this;
  }

  // Reverse the order along `dim`.
  View& reverse(int64_t dim) {
    if (sizes_[dim] > 0) move((sizes_[dim] - 1) * strides_[dim]);
    strides_[dim] = -strides_[dim];
    return *this;
  }

  // View a 0-dimensional tensor as a vector with one element.
  View& vector() { return seen_.ndim == 0 ? insert(0, 1, 1) : *this; }

  // Insert a dimension before `dim`.
  View& insert(int64_t dim, int64_t size, int64_t stride) {
    for (int64_t d = seen_.ndim; d > dim; --d) {
      sizes_[d] = sizes_[d - 1];
      strides_[d] = strides_[d - 1];
    }
    sizes_[dim] = size;
    strides_[dim] = stride;
    ++seen_.ndim;
    return *this;
  }

  // Move dimension `from` to dimension `to`.
  View& move_dim(int64_t from, int64_t to) {
    const int64_t size = sizes_[from], stride = strides_[from];
    const int64_t way = from < to ? 1 : -1;
    for (int64_t d = from; d != to; d += way) {
      sizes_[d] = sizes_[d + way];
      strides_[d] = strides_[d + way];
    }
    sizes_[to] = size;
    strides_[to] = stride;
    return *this;
  }

  // View complex numbers as pairs of real ones, along a new last dimension; real tensors are
  // unchanged.
  View& pairs() {
    const diopiDtype_t part = real_of(seen_.dtype);
    if (part == seen_.dtype) return *this;
    seen_.dtype = part;
    for (int64_t d = 0; d < seen_.ndim; ++d) strides_[d] *= 2;
    return insert(seen_.ndim, 2, 1);
  }

  int64_t ndim() const { return seen_.ndim; }
  int64_t size(int64_t dim) const { return sizes_[dim]; }

  TensorRef tensor() const {
    TensorRef view = seen_;
    view.sizes = sizes_;
    view.strides = strides_;
    view.numel = 1;
    view.contiguous = true;
    for (int64_t d = view.ndim - 1; d >= 0; --d) {
      view.contiguous = view.contiguous && (sizes_[d] == 1 || strides_[d] == view.numel);
      view.numel *= sizes_[d];
    }
    return view;
  }

 private:
  void move(int64_t elements) {
    seen_.data = seen_.as<char>() + elements * dl_dtype_bytes(seen_.dtype);
  }

  TensorRef seen_;
  // With room for the dimensions that `insert` and `pairs` add.
  int64_t sizes_[kMaxDims + 2], strides_[kMaxDims + 2];
};

// The real (0) or imaginary (1) part of a complex tensor; a real tensor has a single part, itself.
class Part {
 public:
  Part(const TensorRef& tensor, int which) : view_(tensor) {
    if (!is_complex(tensor.dtype)) return;
    view_.pairs();
    view_.select(view_.ndim() - 1, which);
  }
  TensorRef tensor() const { return view_.tensor(); }

 private:
  View view_;
};

// Call run(part of a, part of b) for the parts of two tensors of the same dtype, for linear
// functions.
template <class Run>
diopiError_t for_each_part(const TensorRef& a, const TensorRef& b, const Run& run) {
  if (a.ndim > kMaxDims || b.ndim > kMaxDims) return diopiNoImplement;
  for (int which = 0; which < (is_complex(a.dtype) ? 2 : 1); ++which)
    DL_TRY(run(Part(a, which).tensor(), Part(b, which).tensor()));
  return diopiSuccess;
}

// Return true if a list of sizes equals the shape of a tensor.
inline bool has_shape(const TensorRef& tensor, const diopiSize_t& sizes) {
  return sizes.len == tensor.ndim &&
         (sizes.len == 0 ||
          std::memcmp(sizes.data, tensor.sizes, static_cast<size_t>(sizes.len) * 8) == 0);
}

// Check a list of sizes against the tensor's dimensions from `first` on. An empty list is accepted:
// hosts omit such lists.
inline diopiError_t check_listed_sizes(const char* op, const char* name, const diopiSize_t& sizes,
                                       const char* tensor_name, const TensorRef& tensor,
                                       int64_t first = 0) {
  if (sizes.data == nullptr || sizes.len == 0) return diopiSuccess;
  if (sizes.len != tensor.ndim - first) {
    return fail(op, "%s has %lld entries; %s has %lld such dimensions", name, (long long)sizes.len,
                tensor_name, (long long)(tensor.ndim - first));
  }
  for (int64_t i = 0; i < sizes.len; ++i) {
    if (sizes.data[i] == tensor.sizes[first + i]) continue;
    return fail(op, "%s has %lld as entry %lld; dim %lld of %s has %lld elements", name,
                (long long)sizes.data[i], (long long)i, (long long)(first + i), tensor_name,
                (long long)tensor.sizes[first + i]);
  }
  return diopiSuccess;
}

DL_KERNELS_END

#endif  // DL_KERNELS_LAYOUT_VIEW_H_
