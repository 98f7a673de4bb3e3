// CPU: concatenation of row-major tensors along an inner dimension. The output is written from
// front to back, because strided passes over it, one per tensor, would read its cache lines several
// times.
#ifndef DL_KERNELS_CPU_CONCATENATED_ROWS_H_
#define DL_KERNELS_CPU_CONCATENATED_ROWS_H_

#include <cstdint>
#include <cstring>

#include "dl_kernels/base/config.h"
#include "dl_kernels/cpu/launch.h"

DL_KERNELS_BEGIN

// The bytes that each tensor contributes to a row of the output.
class ConcatenatedRows {
 public:
  // Return false if there are too many tensors.
  bool add(const void* data, int64_t bytes) {
    if (count_ == kMost) return false;
    pieces_[count_++] = {static_cast<const char*>(data), static_cast<size_t>(bytes)};
    row_bytes_ += bytes;
    return true;
  }

  void write(const Launch& launch, void* out, int64_t rows) const {
    launch.parallel_for(rows, grain_for(row_bytes_ / 4), [&](int64_t begin, int64_t end) {
      char* to = static_cast<char*>(out) + begin * row_bytes_;
      for (int64_t row = begin; row < end; ++row) {
        for (int64_t k = 0; k < count_; ++k) {
          const Piece piece = pieces_[k];
          std::memcpy(to, piece.data + static_cast<size_t>(row) * piece.bytes, piece.bytes);
          to += piece.bytes;
        }
      }
    });
  }

 private:
  static constexpr int64_t kMost = 64;
  struct Piece {
    const char* data;
    size_t bytes;
  };
  Piece pieces_[kMost];
  int64_t count_ = 0, row_bytes_ = 0;
};

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_CONCATENATED_ROWS_H_
