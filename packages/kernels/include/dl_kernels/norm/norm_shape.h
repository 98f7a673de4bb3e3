// Division of a tensor into rows for normalization over its trailing dimensions, and the sums over
// rows for the gradients of weight and bias.
#ifndef DL_KERNELS_NORM_NORM_SHAPE_H_
#define DL_KERNELS_NORM_NORM_SHAPE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

struct NormShape {
  int64_t rows, width;
};

inline diopiError_t norm_shape(const char* op, const TensorRef& input, diopiSize_t normalized,
                               NormShape* shape) {
  if (normalized.len < 1 || normalized.len > input.ndim) {
    return fail(op, "normalized_shape has %lld dimensions, the input %lld; give 1 to %lld",
                (long long)normalized.len, (long long)input.ndim, (long long)input.ndim);
  }
  *shape = {1, 1};
  const int64_t leading = input.ndim - normalized.len;
  for (int64_t d = 0; d < input.ndim; ++d) {
    const int64_t extent = input.sizes[d];
    if (d < leading) {
      shape->rows *= extent;
      continue;
    }
    if (normalized.data[d - leading] != extent) {
      return fail(op, "normalized_shape has %lld in its dim %lld where the input has %lld",
                  (long long)normalized.data[d - leading], (long long)(d - leading),
                  (long long)extent);
    }
    shape->width *= extent;
  }
  return diopiSuccess;
}

inline diopiError_t check_affine(const char* op, diopiConstTensorHandle_t weight,
                                 diopiConstTensorHandle_t bias, int64_t width) {
  if (absent_or_numel(weight, width) && absent_or_numel(bias, width)) return diopiSuccess;
  return fail(op, "weight, bias and their gradients must have the %lld elements of a row",
              (long long)width);
}

// Pieces of rows whose sums are computed separately and then added. They depend on the shape alone,
// so results do not depend on the number of threads.
struct RowPieces {
  int64_t rows, count, each;

  DL_FN int64_t begin(int64_t piece) const { return piece * each; }
  DL_FN int64_t end(int64_t piece) const {
    return (piece + 1) * each < rows ? (piece + 1) * each : rows;
  }
};

inline RowPieces row_pieces(const NormShape& shape) {
  // A CPU prefers few pieces to add afterwards, a GPU many busy blocks.
  constexpr int64_t kElements = DL_KERNELS_GPU ? 1 << 12 : 1 << 16;
  constexpr int64_t kMost = DL_KERNELS_GPU ? 512 : 32;
  int64_t count = shape.rows * shape.width / kElements;
  count = count < 1 ? 1 : count > kMost ? kMost : count;
  return {shape.rows, count, (shape.rows + count - 1) / count};
}

template <class C>
struct PieceSumItem {
  C* to;
  const C* parts;
  int64_t pieces, step;

  DL_FN void operator()(int64_t i) const {
    double total = 0;
    for (int64_t k = 0; k < pieces; ++k) total += static_cast<double>(parts[k * step + i]);
    to[i] = static_cast<C>(total);
  }
};

// Add the sums of all pieces; a piece has n elements in `parts`, followed by n elements of the
// other sum. `to` may be null.
template <class C>
void add_pieces(const Launch& launch, C* to, const C* parts, int64_t n, int64_t pieces) {
  if (to != nullptr) each(launch, n, pieces, PieceSumItem<C>{to, parts, pieces, 2 * n});
}

DL_KERNELS_END

#endif  // DL_KERNELS_NORM_NORM_SHAPE_H_
