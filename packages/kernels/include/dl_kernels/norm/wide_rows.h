// A tensor as a matrix of doubles: one row for each position of the kept dimensions, with the other
// dimensions along it. For operators that are too rare for a kernel per dtype.
#ifndef DL_KERNELS_NORM_WIDE_ROWS_H_
#define DL_KERNELS_NORM_WIDE_ROWS_H_

#include <cstdint>

#include "dl_kernels/base/copy.h"
#include "dl_kernels/base/dense.h"
#include "dl_kernels/layout/view.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

class WideRows {
 public:
  // Bit d of `inside` is set if dimension d is within the rows. At most kMaxDims dimensions.
  WideRows(diopiContextHandle_t ctx, const TensorRef& tensor, uint32_t inside)
      : view_(tensor), rows_(1), width_(1) {
    int64_t kept = 0;
    for (int64_t d = 0; d < tensor.ndim; ++d) {
      if ((inside >> d & 1) != 0) {
        width_ *= tensor.sizes[d];
      } else {
        rows_ *= tensor.sizes[d];
        view_.move_dim(d, kept++);
      }
    }
    data_.reserve(Launch(ctx), tensor.numel);
  }

  diopiError_t read(diopiContextHandle_t ctx, const char* op) const {
    int64_t strides[kMaxDims];
    const TensorRef tensor = view_.tensor();
    return copy_elements(ctx, op, detail::array_like(data_.data(), tensor, strides), tensor);
  }

  diopiError_t write(diopiContextHandle_t ctx, const char* op) const {
    int64_t strides[kMaxDims];
    const TensorRef tensor = view_.tensor();
    return copy_elements(ctx, op, tensor, detail::array_like(data_.data(), tensor, strides));
  }

  double* data() const { return data_.data(); }
  int64_t rows() const { return rows_; }
  int64_t width() const { return width_; }

 private:
  View view_;
  int64_t rows_, width_;
  Workspace<double> data_;
};

DL_KERNELS_END

#endif  // DL_KERNELS_NORM_WIDE_ROWS_H_
