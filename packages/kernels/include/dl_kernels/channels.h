// Tensors of shape (N, C) or (N, C, …) as normalisations see them: channels, each with the
// positions of every sample.
#ifndef DL_KERNELS_CHANNELS_H_
#define DL_KERNELS_CHANNELS_H_

#include <cstdint>

#include "dl_kernels/block.h"
#include "dl_kernels/error.h"
#include "dl_kernels/launch.h"
#include "dl_kernels/tensor_ref.h"

DL_KERNELS_BEGIN

struct ChannelShape {
  int64_t samples, channels, positions;
  DL_FN int64_t count() const { return samples * positions; }
};

inline diopiError_t channel_shape(const char* op, const TensorRef& input, ChannelShape* shape) {
  if (input.ndim < 2) {
    return fail(op, "the input has %lld dimensions; it needs samples and channels",
                (long long)input.ndim);
  }
  *shape = {input.sizes[0], input.sizes[1], 1};
  for (int64_t d = 2; d < input.ndim; ++d) shape->positions *= input.sizes[d];
  return diopiSuccess;
}

inline diopiError_t check_channels(const char* op, const char* what,
                                   diopiConstTensorHandle_t tensor, int64_t channels) {
  if (tensor == nullptr || ref(tensor).numel == channels) return diopiSuccess;
  return fail(op, "%s has %lld elements; the input has %lld channels", what,
              (long long)ref(tensor).numel, (long long)channels);
}

// Whether the channels of one position are neighbours and the tensor has no gaps: every position is
// then a sample of its own.
inline bool channels_last(const TensorRef& tensor) {
  if (tensor.contiguous || tensor.ndim < 3) return false;
  int64_t next = tensor.sizes[1];
  if (tensor.sizes[1] != 1 && tensor.strides[1] != 1) return false;
  for (int64_t d = tensor.ndim - 1; d >= 0; --d) {
    if (d == 1) continue;
    if (tensor.sizes[d] != 1 && tensor.strides[d] != next) return false;
    next *= tensor.sizes[d];
  }
  return true;
}

// first[c] and second[c] become the sums over all rows of what f(index, c) returns, index being
// that of the element in a row-major matrix. Cut at fixed places, so that the result does not
// depend on the number of threads.
template <class C, class F>
void column_sums(const Launch& launch, int64_t rows, int64_t columns, double* first, double* second,
                 const F& f) {
  constexpr int64_t kRows = 256;  // whose sums are kept in C
  constexpr int64_t kWidth = 64;
  int64_t pieces = rows * columns / (int64_t(1) << 15);
  pieces = pieces < 1 ? 1 : pieces > 32 ? 32 : pieces;
  const int64_t piece = (rows + pieces - 1) / pieces;
  const Workspace<double> parts(launch, pieces * 2 * columns);
  launch.parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      double* part = parts.data() + k * 2 * columns;
      for (int64_t i = 0; i < 2 * columns; ++i) part[i] = 0;
      const int64_t stop = (k + 1) * piece < rows ? (k + 1) * piece : rows;
      for (int64_t start = k * piece; start < stop; start += kRows) {
        const int64_t last = start + kRows < stop ? start + kRows : stop;
        for (int64_t c0 = 0; c0 < columns; c0 += kWidth) {
          const int64_t width = columns - c0 < kWidth ? columns - c0 : kWidth;
          alignas(64) C a[kWidth] = {}, b[kWidth] = {};
          for (int64_t row = start; row < last; ++row) {
            DL_VECTOR_LOOP
            for (int64_t j = 0; j < width; ++j) {
              const Pair<C> both = f(row * columns + c0 + j, c0 + j);
              a[j] += both.first;
              b[j] += both.second;
            }
          }
          for (int64_t j = 0; j < width; ++j) {
            part[c0 + j] += static_cast<double>(a[j]);
            part[columns + c0 + j] += static_cast<double>(b[j]);
          }
        }
      }
    }
  });
  for (int64_t c = 0; c < columns; ++c) {
    first[c] = second[c] = 0;
    for (int64_t k = 0; k < pieces; ++k) {
      first[c] += parts.data()[k * 2 * columns + c];
      second[c] += parts.data()[k * 2 * columns + columns + c];
    }
  }
}

DL_KERNELS_END

#endif  // DL_KERNELS_CHANNELS_H_
