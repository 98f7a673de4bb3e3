// Nested tensors of sequences, which torch's transformer layers make of padded ones.
#pragma once

#include <ATen/core/Tensor.h>

namespace dl::core::composed {

// The sequences of a nested tensor, of shapes (length, width), as one matrix: all their rows, one
// sequence after the other. What works on rows needs no padding; attention gets it back.
class NestedRows {
 public:
  NestedRows(const char* operation, const at::Tensor& nested);

  const at::Tensor& rows() const { return rows_; }
  // A nested tensor with the same lengths.
  at::Tensor nest(const at::Tensor& rows) const;
  // (sequences, longest, width), zeros where a sequence has ended.
  at::Tensor pad(const at::Tensor& rows) const;
  at::Tensor unpad(const at::Tensor& padded) const;
  // (sequences, longest), true where a sequence has ended.
  at::Tensor ended() const;

 private:
  // Of the rows among those of the padded sequences.
  const at::Tensor& places() const;

  at::Tensor lengths_;  // on the host, with the widths
  at::Tensor rows_;
  mutable at::Tensor places_;  // made when it is first asked for
  int64_t longest_ = 0;
};

}  // namespace dl::core::composed
