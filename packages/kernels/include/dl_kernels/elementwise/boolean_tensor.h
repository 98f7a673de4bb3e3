// Operators with boolean results, stored as bool or as 0 and 1 of another dtype.
#ifndef DL_KERNELS_ELEMENTWISE_BOOLEAN_TENSOR_H_
#define DL_KERNELS_ELEMENTWISE_BOOLEAN_TENSOR_H_

#include "dl_kernels/base/copy.h"
#include "dl_kernels/base/dense.h"
#include "dl_kernels/layout/view.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

// Call run(bools) with a boolean tensor of the shape of `out`: `out` itself, or a temporary that
// is converted afterwards. Results of other dtypes are rare and do not justify kernels of their
// own.
template <class Run>
diopiError_t write_as_boolean(diopiContextHandle_t ctx, const char* op, const TensorRef& out,
                              const Run& run) {
  if (out.dtype == diopi_dtype_bool) return run(out);
  if (out.ndim > kMaxDims) return diopiNoImplement;
  const Workspace<Bool> temporary(Launch(ctx), out.numel);
  int64_t strides[kMaxDims];
  const TensorRef bools = detail::array_like(temporary.data(), out, strides);
  DL_TRY(run(bools));
  return copy_elements(ctx, op, out, bools);
}

// A tensor converted to bool: true for nonzero elements.
class BooleanTensor {
 public:
  BooleanTensor(diopiContextHandle_t ctx, const char* op, const TensorRef& tensor)
      : elements_(ctx, op, tensor), of_(tensor) {}

  diopiError_t status() const { return elements_.status(); }
  TensorRef tensor() {
    return detail::array_like(const_cast<Bool*>(elements_.data()), of_, strides_);
  }

 private:
  DenseInput<Bool> elements_;
  TensorRef of_;
  int64_t strides_[kMaxDims];
};

DL_KERNELS_END

#endif  // DL_KERNELS_ELEMENTWISE_BOOLEAN_TENSOR_H_
