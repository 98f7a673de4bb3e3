// Nested tensors of sequences, which torch's transformer layers create from padded ones.
#pragma once

#include <ATen/core/Tensor.h>

namespace dl::core::composed {

// The sequences of a nested tensor, of shapes (length, width), as one matrix: the rows of all
// sequences, concatenated. Row-wise operators need no padding; attention gets padded sequences.
class NestedRows {
 public:
  NestedRows(const char* operation, const at::Tensor& nested);

  const at::Tensor& rows() const { return rows_; }
  // Returns a nested tensor with the same lengths.
  at::Tensor nest(const at::Tensor& rows) const;
  // [sequences, longest, width], padded with zeros.
  at::Tensor pad(const at::Tensor& rows) const;
  at::Tensor unpad(const at::Tensor& padded) const;
  // [sequences, longest]: true at padding.
  at::Tensor ended() const;

 private:
  // For each row, its index within the padded sequences.
  const at::Tensor& places() const;

  at::Tensor lengths_;  // on the host, with the widths
  at::Tensor rows_;
  mutable at::Tensor places_;  // computed at the first use
  int64_t longest_ = 0;
};

}  // namespace dl::core::composed
