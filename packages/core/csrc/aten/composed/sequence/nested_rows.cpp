// Nested tensors as torch's transformer layers use them: they are created from padded sequences and
// a mask, computed with, and padded again.
#include "aten/composed/sequence/nested_rows.h"
#include "aten/layout/aliases.h"

#include <ATen/NestedTensorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <vector>

#include "aten/kernel/composed.h"

namespace dl::core::composed {
namespace {

Tensor nested_from(const Tensor& rows, const Tensor& sizes) {
  // The size of a nested tensor is derived from its storage, which must contain exactly the rows.
  const Tensor whole =
      rows.is_contiguous() && rows.storage_offset() == 0 && rows.storage().nbytes() == rows.nbytes()
          ? rows
          : rows.clone(at::MemoryFormat::Contiguous);
  return at::detail::make_tensor<at::native::NestedTensorImpl>(whole.view({-1}), sizes);
}

void check_mask(const Tensor& t, const Tensor& mask) {
  TORCH_CHECK(mask.scalar_type() == at::kBool,
              "[_nested_tensor_from_mask] the mask should be of bools, but it has dtype ",
              mask.scalar_type());
  TORCH_CHECK(
      mask.dim() == 2 && t.dim() == 3 && mask.size(0) == t.size(0) && mask.size(1) == t.size(1),
      "[_nested_tensor_from_mask] a mask of shape ", mask.sizes(),
      " does not match an input of shape ", t.sizes(), ": they should be (N, L) and (N, L, D)");
}

// Returns true if in every row of the mask all true values precede the false ones.
bool is_left_aligned(const Tensor& mask, const Tensor& lengths) {
  const Tensor expected = at::arange(mask.size(1), lengths.options()).lt(lengths.unsqueeze(1));
  return expected.equal(mask);
}

bool from_mask_left_aligned(const Tensor& t, const Tensor& mask) {
  check_mask(t, mask);
  return is_left_aligned(mask, mask.sum(1));
}

Tensor from_mask(const Tensor& t, const Tensor& mask, bool mask_check) {
  check_mask(t, mask);
  const Tensor lengths = mask.sum(1);
  TORCH_CHECK(!mask_check || is_left_aligned(mask, lengths),
              "[_nested_tensor_from_mask] the mask should be left-aligned: in each row, all "
              "true values must precede the false ones");
  const Tensor widths = at::full({t.size(0)}, t.size(2), at::kLong);
  const Tensor sizes = at::stack({lengths.cpu(), widths}, 1);
  return nested_from(at::index(t, c10::List<std::optional<Tensor>>({mask})), sizes);
}

Tensor to_padded(const Tensor& self, double padding, at::OptionalSymIntArrayRef wanted) {
  const auto* impl = at::native::get_nested_tensor_impl(self);
  const Tensor &all_sizes = impl->get_nested_sizes(), &all_strides = impl->get_nested_strides();
  const int64_t count = all_sizes.size(0), dims = all_sizes.dim() == 2 ? all_sizes.size(1) : 0;
  std::vector<int64_t> shape = {count};
  for (int64_t d = 0; d < dims; ++d)
    shape.push_back(count == 0 ? 0 : all_sizes.select(1, d).max().item<int64_t>());
  if (wanted) {
    const auto given = C10_AS_INTARRAYREF_SLOW(*wanted);
    TORCH_CHECK(given.size() == shape.size(), "[to_padded_tensor] output_size ", given,
                " should have ", shape.size(), " entries");
    for (size_t d = 0; d < shape.size(); ++d) {
      TORCH_CHECK(given[d] >= shape[d], "[to_padded_tensor] output_size ", given,
                  " is less than the padded size ", at::IntArrayRef(shape), " in dimension ", d);
    }
    shape.assign(given.begin(), given.end());
  }
  const Tensor buffer = impl->get_unsafe_storage_as_tensor();
  Tensor padded = at::full(shape, padding, buffer.options());
  const int64_t* const sizes = all_sizes.const_data_ptr<int64_t>();
  const int64_t* const strides = all_strides.const_data_ptr<int64_t>();
  const int64_t* const offsets = impl->get_storage_offsets().const_data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    const at::IntArrayRef own(sizes + i * dims, static_cast<size_t>(dims));
    Tensor target = padded.select(0, i);
    for (int64_t d = 0; d < dims; ++d) target = target.narrow(d, 0, own[d]);
    target.copy_(buffer.as_strided(
        own, at::IntArrayRef(strides + i * dims, static_cast<size_t>(dims)), offsets[i]));
  }
  return padded;
}

}  // namespace

NestedRows::NestedRows(const char* operation, const Tensor& nested) {
  const auto* impl = at::native::get_nested_tensor_impl(nested);
  lengths_ = impl->get_nested_sizes();
  TORCH_CHECK(lengths_.dim() == 2 && lengths_.size(1) == 2 && impl->opt_size(2).has_value() &&
                  at::native::nested_tensor_impl_is_contiguous(impl),
              "[", operation,
              "] supports contiguous nested tensors of shape (length, width) with equal widths "
              "only; pad others, or use layout=torch.jagged");
  rows_ = impl->get_buffer().view({-1, impl->size(2)});
  const int64_t* const sizes = lengths_.const_data_ptr<int64_t>();
  const int64_t count = lengths_.size(0);
  for (int64_t i = 0; i < count; ++i) longest_ = std::max(longest_, sizes[2 * i]);
}

const Tensor& NestedRows::places() const {
  if (places_.defined()) return places_;
  const int64_t* const sizes = lengths_.const_data_ptr<int64_t>();
  std::vector<int64_t> found;
  found.reserve(static_cast<size_t>(rows_.size(0)));
  for (int64_t i = 0; i < lengths_.size(0); ++i) {
    for (int64_t at = 0; at < sizes[2 * i]; ++at) found.push_back(i * longest_ + at);
  }
  places_ = at::tensor(found, at::kLong).to(rows_.device());
  return places_;
}

Tensor NestedRows::nest(const Tensor& rows) const { return nested_from(rows, lengths_); }

Tensor NestedRows::pad(const Tensor& rows) const {
  const int64_t count = lengths_.size(0);
  return at::zeros({count * longest_, rows.size(1)}, rows.options())
      .index_copy(0, places(), rows)
      .view({count, longest_, rows.size(1)});
}

Tensor NestedRows::unpad(const Tensor& padded) const {
  return padded.reshape({-1, padded.size(-1)}).index_select(0, places());
}

Tensor NestedRows::ended() const {
  const Tensor lengths = lengths_.select(1, 0).unsqueeze(1);
  return at::arange(longest_, at::kLong).ge(lengths).to(rows_.device());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("_nested_tensor_from_mask", from_mask);
  DL_COMPOSED("_nested_tensor_from_mask_left_aligned", from_mask_left_aligned);
}

TORCH_LIBRARY_IMPL(aten, NestedTensorPrivateUse1, library) {
  library.impl("to_padded_tensor", TORCH_FN(to_padded));
}

}  // namespace dl::core::composed
