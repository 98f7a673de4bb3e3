// Multi-tensor launches: lists of arrays, divided into pieces, in one launch of an optimizer step.
#ifndef DL_KERNELS_OPTIMIZER_TENSOR_BATCH_H_
#define DL_KERNELS_OPTIMIZER_TENSOR_BATCH_H_

#include <cstdint>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

// `Arrays` describes one tensor: pointers to arrays of the same length. A batch is passed by value
// with the kernel arguments, in a Held.
template <class Arrays>
class TensorBatch {
 public:
  // A piece of one tensor.
  struct Part {
    int tensor;
    int64_t first, count;
  };

  static constexpr int kMost = 24;  // kernel arguments are limited to 4 KiB
  static constexpr int64_t kPiece = DL_KERNELS_GPU ? 2048 : 32768;

  void add(const Arrays& arrays, int64_t numel) {
    arrays_[count_] = arrays;
    numel_[count_] = numel;
    ends_[count_] = pieces() + (numel + kPiece - 1) / kPiece;
    ++count_;
  }
  void clear() { count_ = 0; }
  bool full() const { return count_ == kMost; }

  int count() const { return count_; }
  int64_t pieces() const { return count_ == 0 ? 0 : ends_[count_ - 1]; }

  DL_FN Part part(int64_t piece) const {
    int k = 0;
    while (piece >= ends_[k]) ++k;
    const int64_t first = (k == 0 ? piece : piece - ends_[k - 1]) * kPiece;
    return {k, first, numel_[k] - first < kPiece ? numel_[k] - first : kPiece};
  }
  DL_FN const Arrays& of(int tensor) const { return arrays_[tensor]; }

 private:
  Arrays arrays_[kMost];
  int64_t numel_[kMost];
  int64_t ends_[kMost];  // cumulative number of pieces
  int count_ = 0;
};

DL_KERNELS_END

#endif  // DL_KERNELS_OPTIMIZER_TENSOR_BATCH_H_
