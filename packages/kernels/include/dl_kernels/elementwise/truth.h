// Operators that say whether something is so: as bools, or as 0 and 1 in a dtype of complex
// numbers.
#ifndef DL_KERNELS_ELEMENTWISE_TRUTH_H_
#define DL_KERNELS_ELEMENTWISE_TRUTH_H_

#include "dl_kernels/base/copy.h"
#include "dl_kernels/base/dense.h"
#include "dl_kernels/layout/view.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

// Calls run(bools) with a tensor of bools of the shape of `out`: itself, or one that is converted
// afterwards. That saves a kernel for every dtype whose numbers are seldom asked to be 0 and 1.
template <class Run>
diopiError_t written_as_truth(diopiContextHandle_t ctx, const char* op, const TensorRef& out,
                              const Run& run) {
  if (out.dtype == diopi_dtype_bool) return run(out);
  if (out.ndim > kMaxDims) return diopiNoImplement;
  const Workspace<Bool> truth(Launch(ctx), out.numel);
  int64_t strides[kMaxDims];
  const TensorRef bools = detail::array_like(truth.data(), out, strides);
  DL_TRY(run(bools));
  return copy_elements(ctx, op, out, bools);
}

// A tensor as bools: whether its elements are other than 0.
class Truth {
 public:
  Truth(diopiContextHandle_t ctx, const char* op, const TensorRef& tensor)
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

#endif  // DL_KERNELS_ELEMENTWISE_TRUTH_H_
