// Scatter along one dimension: elements go to the positions named by an index tensor. Defined in
// ops/scatter.inc, once per library.
#ifndef DL_KERNELS_INDEX_SCATTER_H_
#define DL_KERNELS_INDEX_SCATTER_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/copy.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/layout/view.h"

DL_KERNELS_BEGIN

// `reduce` is as in diopiScatter. With `from_end`, indices may be negative to count from the end.
// After the checks, `target` is initialized from `start`, unless that is null or the same memory.
diopiError_t scatter_into(diopiContextHandle_t ctx, const char* op, TensorRef target, int64_t dim,
                          TensorRef source, TensorRef index, const char* reduce, bool from_end,
                          const TensorRef* start);

// Treat a 0-dimensional tensor as a vector with one element.
inline void as_vector(TensorRef& tensor) {
  static const int64_t one = 1;
  if (tensor.ndim != 0) return;
  tensor.ndim = 1;
  tensor.sizes = tensor.strides = &one;
}

// Check that `out` can be initialized as a copy of `input`.
inline diopiError_t check_start(const char* op, const TensorRef& out, const TensorRef& input) {
  if (out.dtype != input.dtype) return diopiDtypeNotSupported;
  if (!same_shape(out, input)) return fail(op, "the output does not have the shape of the input");
  return diopiSuccess;
}

// Copy `start` to `out` unless it is null or the same memory.
inline diopiError_t start_from(diopiContextHandle_t ctx, const char* op, const TensorRef& out,
                               const TensorRef* start) {
  if (start == nullptr || out.data == start->data) return diopiSuccess;
  return copy_elements(ctx, op, out, *start);
}

// A host scalar as a source of any shape.
class RepeatedScalar {
 public:
  RepeatedScalar(const diopiScalar_t& value, const TensorRef& target, const TensorRef& shape)
      : source_(shape), status_(element_of(target.dtype, value, &element_)) {
    source_.data = &element_;
    source_.dtype = target.dtype;
    source_.strides = zeros_;
    source_.contiguous = false;
    source_.on_host = true;
  }
  diopiError_t status() const { return status_; }
  const TensorRef& source() const { return source_; }

 private:
  alignas(16) Bits128 element_{};
  int64_t zeros_[kMaxDims] = {};
  TensorRef source_;
  diopiError_t status_;
};

// The gradient of a gather: fill `target` with zeros, then add `source` at the positions
// `index`, or write it there if `reduce` is "". All have the same number of dimensions, at least
// one.
inline diopiError_t scatter_gradient(diopiContextHandle_t ctx, const char* op, View& target,
                                     int64_t dim, View& source, View& index, const char* reduce) {
  const int64_t before = target.ndim();
  target.pairs();
  source.pairs();
  if (target.ndim() != before) index.insert(before, 2, 0);
  const TensorRef to = target.tensor();
  const RepeatedScalar zeros(integer_scalar(0), to, to);
  DL_TRY(zeros.status());
  return scatter_into(ctx, op, to, dim, source.tensor(), index.tensor(), reduce, false,
                      &zeros.source());
}

DL_KERNELS_END

#endif  // DL_KERNELS_INDEX_SCATTER_H_
