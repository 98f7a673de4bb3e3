// Views and queries of tensors in the expressions of a library vendor. A view shares the memory of
// its tensor; one that strides cannot express is declined.
#ifndef DL_KIT_LIBRARY_VIEWS_H_
#define DL_KIT_LIBRARY_VIEWS_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "dl/kit/base.h"
#include "dl/kit/library/values.h"

DL_KIT_BEGIN

namespace library {

inline Dtype dtype(const View& x) { return Dtype{x.dtype}; }
inline int64_t ndim(const View& x) { return x.ndim; }
inline int64_t numel(const View& x) { return x.numel(); }
inline int64_t len(const Ints& list) { return static_cast<int64_t>(list.size()); }
inline int64_t count(const Views& list) { return static_cast<int64_t>(list.size()); }
inline bool is_contiguous(const View& x) { return x.is_contiguous(); }
inline bool is_floating(const View& x) {
  return x.dtype == diopi_dtype_float16 || x.dtype == diopi_dtype_bfloat16 ||
         x.dtype == diopi_dtype_float32 || x.dtype == diopi_dtype_float64;
}
inline bool is_complex(const View& x) {
  return x.dtype == diopi_dtype_complex32 || x.dtype == diopi_dtype_complex64 ||
         x.dtype == diopi_dtype_complex128;
}
inline bool is_integral(const View& x) { return !is_floating(x) && !is_complex(x); }

// The index of a dimension, negative ones counted from the last. `more`: further allowed indices.
inline int32_t dimension(const View& x, int64_t dim, int more = 0) {
  const int64_t count = x.ndim + more;
  const int64_t found = dim < 0 ? dim + count : dim;
  if (found < 0 || found >= count)
    refuse("dimension " + std::to_string(dim) + " of a tensor with " + std::to_string(x.ndim) +
           " dimensions");
  return static_cast<int32_t>(found);
}
inline int64_t size(const View& x, int64_t dim) { return x.sizes[dimension(x, dim)]; }
inline bool same_shape(const View& a, const View& b) {
  return a.ndim == b.ndim && std::equal(a.sizes, a.sizes + a.ndim, b.sizes);
}

inline View transposed(const View& x, int64_t dim0, int64_t dim1) {
  View view = x;
  if (x.ndim == 0) return view;
  const int32_t a = dimension(x, dim0), b = dimension(x, dim1);
  std::swap(view.sizes[a], view.sizes[b]);
  std::swap(view.strides[a], view.strides[b]);
  return view;
}
inline View t(const View& x) { return x.ndim < 2 ? x : transposed(x, -2, -1); }
// One dimension after all others, whose order is kept.
inline View moved_to_last(const View& x, int64_t dim) {
  View view = x;
  const int32_t from = dimension(x, dim);
  for (int32_t d = from; d + 1 < x.ndim; ++d) {
    view.sizes[d] = x.sizes[d + 1];
    view.strides[d] = x.strides[d + 1];
  }
  view.sizes[x.ndim - 1] = x.sizes[from];
  view.strides[x.ndim - 1] = x.strides[from];
  return view;
}
inline View permuted(const View& x, const Ints& dims) {
  View view = x;
  if (static_cast<int64_t>(dims.size()) != x.ndim) refuse("a permutation names other dimensions");
  for (int32_t d = 0; d < x.ndim; ++d) {
    const int32_t from = dimension(x, dims[static_cast<size_t>(d)]);
    view.sizes[d] = x.sizes[from];
    view.strides[d] = x.strides[from];
  }
  return view;
}

// Merges the dimensions [begin, end) into one; there is always a result dimension.
inline View merged(const View& x, int32_t begin, int32_t end) {
  View view = x;
  int64_t size = 1, stride = 1;
  bool is_first = true;
  for (int32_t d = end - 1; d >= begin; --d) {
    if (x.sizes[d] == 1) continue;
    if (is_first) {
      stride = x.strides[d];
      is_first = false;
    } else if (x.strides[d] != stride * size && x.numel() != 0) {
      refuse("the dimensions of a tensor cannot be merged without a copy");
    }
    size *= x.sizes[d];
  }
  view.sizes[begin] = size;
  view.strides[begin] = stride;
  const int32_t removed = end - begin - 1;
  for (int32_t d = end; d < x.ndim; ++d) {
    view.sizes[d - removed] = x.sizes[d];
    view.strides[d - removed] = x.strides[d];
  }
  view.ndim = x.ndim - removed;
  return view;
}
inline View flat(const View& x) { return merged(x, 0, x.ndim); }
inline View flat2d(const View& x) {
  if (x.ndim == 0) refuse("a tensor without dimensions is not a matrix");
  return merged(x, 0, x.ndim - 1);
}

inline View unsqueeze(const View& x, int64_t dim) {
  if (x.ndim == kMaxDims) refuse("a view would have too many dimensions");
  const int32_t at = dimension(x, dim, 1);
  View view = x;
  view.ndim = x.ndim + 1;
  for (int32_t d = x.ndim; d > at; --d) {
    view.sizes[d] = x.sizes[d - 1];
    view.strides[d] = x.strides[d - 1];
  }
  view.sizes[at] = 1;
  view.strides[at] = at < x.ndim ? x.sizes[at] * x.strides[at] : 1;
  return view;
}
inline View without(const View& x, int32_t at) {
  View view = x;
  for (int32_t d = at; d + 1 < x.ndim; ++d) {
    view.sizes[d] = x.sizes[d + 1];
    view.strides[d] = x.strides[d + 1];
  }
  view.ndim = x.ndim - 1;
  return view;
}
inline View squeeze(const View& x, int64_t dim) {
  const int32_t at = dimension(x, dim);
  if (x.sizes[at] != 1)
    refuse("a dimension of size " + std::to_string(x.sizes[at]) + " is removed");
  return without(x, at);
}
inline View select(const View& x, int64_t dim, int64_t index) {
  const int32_t at = dimension(x, dim);
  const int64_t place = index < 0 ? index + x.sizes[at] : index;
  if (place < 0 || place >= x.sizes[at]) refuse("index " + std::to_string(index) + " is too large");
  View view = without(x, at);
  view.offset += place * x.strides[at];
  return view;
}
inline View lane0(const View& x) { return select(x, -1, 0); }
// As Python's slices: negative bounds count from the end, and bounds are limited to the size.
inline View slice(const View& x, int64_t dim, int64_t start, int64_t end, int64_t step) {
  const int32_t at = dimension(x, dim);
  const int64_t size = x.sizes[at];
  if (step < 1) refuse("a slice with the step " + std::to_string(step));
  const int64_t first = std::clamp<int64_t>(start < 0 ? start + size : start, 0, size);
  const int64_t last = std::clamp<int64_t>(end < 0 ? end + size : end, first, size);
  View view = x;
  view.sizes[at] = (last - first + step - 1) / step;
  view.strides[at] = x.strides[at] * step;
  view.offset += first * x.strides[at];
  return view;
}
inline View expanded(const View& x, const View& to) {
  View view = x;
  view.ndim = to.ndim;
  for (int32_t d = 0; d < to.ndim; ++d) {
    const int32_t from = d - (to.ndim - x.ndim);
    view.sizes[d] = to.sizes[d];
    view.strides[d] = from < 0 || x.sizes[from] == 1 ? 0 : x.strides[from];
    if (from >= 0 && x.sizes[from] != 1 && x.sizes[from] != to.sizes[d])
      refuse("a tensor does not broadcast to the shape of another");
  }
  if (x.ndim > to.ndim) refuse("a tensor does not broadcast to the shape of another");
  return view;
}
inline View unfolded(const View& x, int64_t dim, int64_t size, int64_t step) {
  if (x.ndim == kMaxDims) refuse("a view would have too many dimensions");
  if (x.ndim == 0) {
    View view = x;
    view.ndim = 1;
    view.sizes[0] = size;
    view.strides[0] = 1;
    return view;
  }
  const int32_t at = dimension(x, dim);
  if (step < 1 || size < 0 || size > x.sizes[at]) refuse("windows do not fit the dimension");
  View view = x;
  view.sizes[at] = (x.sizes[at] - size) / step + 1;
  view.strides[at] = x.strides[at] * step;
  view.sizes[x.ndim] = size;
  view.strides[x.ndim] = x.strides[at];
  view.ndim = x.ndim + 1;
  return view;
}
// A tensor of one dimension as dimension `dim` of `count`; all others have size 1.
inline View placed(const View& x, int64_t dim, int64_t count) {
  if (x.ndim > 1 || dim < 0 || dim >= count || count > kMaxDims) refuse("a view does not fit");
  View view = x;
  view.ndim = static_cast<int32_t>(count);
  for (int32_t d = 0; d < view.ndim; ++d) {
    const bool is_own = d == dim && x.ndim == 1;
    view.sizes[d] = is_own ? x.sizes[0] : 1;
    view.strides[d] = is_own ? x.strides[0] : 0;
  }
  return view;
}
// Only for tensors whose elements are adjacent.
inline View reshaped(const View& x, const Ints& shape) {
  if (!x.is_contiguous()) refuse("a tensor that is not contiguous cannot be reshaped");
  if (static_cast<int64_t>(shape.size()) > kMaxDims)
    refuse("a view would have too many dimensions");
  View view = x;
  view.ndim = static_cast<int32_t>(shape.size());
  int64_t known = 1;
  int32_t open = -1;
  for (int32_t d = 0; d < view.ndim; ++d) {
    view.sizes[d] = shape[static_cast<size_t>(d)];
    if (view.sizes[d] == -1 && open < 0)
      open = d;
    else
      known *= view.sizes[d];
  }
  if (open >= 0) {
    if (known == 0 || x.numel() % known != 0) refuse("a shape does not fit the elements");
    view.sizes[open] = x.numel() / known;
  } else if (known != x.numel()) {
    refuse("a shape does not fit the elements");
  }
  int64_t stride = 1;
  for (int32_t d = view.ndim - 1; d >= 0; --d) {
    view.strides[d] = stride;
    stride *= std::max<int64_t>(view.sizes[d], 1);
  }
  return view;
}

inline View part_of_complex(const View& x, int64_t part) {
  View view = x;
  switch (x.dtype) {
    case diopi_dtype_complex32:
      view.dtype = diopi_dtype_float16;
      break;
    case diopi_dtype_complex64:
      view.dtype = diopi_dtype_float32;
      break;
    case diopi_dtype_complex128:
      view.dtype = diopi_dtype_float64;
      break;
    default:
      refuse("parts of a tensor that is not complex");
  }
  for (int32_t d = 0; d < x.ndim; ++d) view.strides[d] *= 2;
  view.offset = 2 * x.offset + part;
  return view;
}
inline View real_part(const View& x) { return part_of_complex(x, 0); }
inline View imaginary_part(const View& x) { return part_of_complex(x, 1); }
inline View bits_as_uint8(const View& x) {
  View view = x;
  if (dl_dtype_bytes(x.dtype) != 1) refuse("elements of more than one byte as uint8");
  view.dtype = diopi_dtype_uint8;
  return view;
}
inline View first(const View& a, const View& b) { return a.is_present ? a : b; }

}  // namespace library

DL_KIT_END

#endif  // DL_KIT_LIBRARY_VIEWS_H_
