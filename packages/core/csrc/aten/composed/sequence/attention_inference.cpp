// Attention over a paged cache, as the operator torch.ops.dl.paged_attention: torch has no operator
// of this kind. Source: Kwon et al., Efficient Memory Management for Large Language Model Serving
// with PagedAttention (2023).
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <optional>

#include "aten/layout/aliases.h"
#include "aten/plans/checks.h"
#include "calls/call.h"
#include "memory/new_tensor.h"

namespace dl::core::composed {
namespace {

// Without forms and operators, because reports list overloads of torch only.
Site paged_attention_site{"dl::paged_attention", {}, {}};

void check_paged(const Tensor& query, const Tensor& keys, const Tensor& values,
                 at::IntArrayRef lengths, const Tensor& table, const OptionalTensor& hidden,
                 int64_t key_heads, int64_t block_size) {
  TORCH_CHECK(query.dim() == 3, "[paged_attention] query has the shape ", query.sizes(),
              "; it must be [sequences, heads, size]");
  const int64_t width = key_heads * query.size(2);
  TORCH_CHECK(keys.dim() == 2 && keys.size(1) == width && keys.sizes() == values.sizes(),
              "[paged_attention] keys and values have the shapes ", keys.sizes(), " and ",
              values.sizes(), "; both must be [blocks * ", block_size, ", ", width, "]");
  TORCH_CHECK(static_cast<int64_t>(lengths.size()) == query.size(0), "[paged_attention] there are ",
              lengths.size(), " lengths for ", query.size(0), " sequences");
  TORCH_CHECK(plans::alike(query, keys, values) && plans::floating(query),
              "[paged_attention] query, keys and values have the dtypes ", query.scalar_type(),
              ", ", keys.scalar_type(), " and ", values.scalar_type(),
              "; they must be one floating-point dtype on one device");
  TORCH_CHECK(plans::on_same_device(query, table), "[paged_attention] table is on ", table.device(),
              "; it must be on ", query.device());
  TORCH_CHECK(!hidden || plans::on_same_device(query, *hidden), "[paged_attention] hidden is on ",
              hidden->device(), "; it must be on ", query.device());
}

// Returns the attention of one token per sequence. `keys` and `values` are rows of a cache, in
// blocks of `block_size`, and row i of `table` lists the blocks of sequence i, which has
// `lengths`[i] tokens. `hidden` is true for the keys that a sequence ignores.
Tensor paged_attention(const Tensor& query, const Tensor& keys, const Tensor& values,
                       at::IntArrayRef lengths, const Tensor& table, const OptionalTensor& hidden,
                       int64_t key_heads, int64_t block_size) {
  check_paged(query, keys, values, lengths, table, hidden, key_heads, block_size);
  const int index = query.get_device();
  const auto operation = DL_CONTRACT_FUNCTION(device_unchecked(index), diopiPagedAttention);
  const Tensor flat = query.reshape({query.size(0), query.size(1) * query.size(2)});
  const Tensor out = empty_on(index, flat.sizes(), query.scalar_type());
  NativeCall call(paged_attention_site, index);
  const bool ran =
      operation != nullptr && !paged_attention_site.disabled.load(std::memory_order_relaxed) &&
      call.run("diopiPagedAttention", operation, OutputHandle(out).get(), TensorHandle(flat).get(),
               TensorHandle(keys).get(), TensorHandle(values).get(), OptionalHandle(hidden).get(),
               to_size(lengths), query.size(1), key_heads, query.size(2), TensorHandle(table).get(),
               block_size);
  TORCH_CHECK_NOT_IMPLEMENTED(ran, "[paged_attention] ", device_unchecked(index).vendor->name(),
                              " does not have diopiPagedAttention for this call; gather the keys "
                              "and call scaled_dot_product_attention");
  return out.view(query.sizes());
}

// Returns true if the device's vendor has the operator.
bool has_paged_attention(int64_t index) {
  return DL_CONTRACT_FUNCTION(device(static_cast<int>(index)), diopiPagedAttention) != nullptr &&
         !paged_attention_site.disabled.load(std::memory_order_relaxed);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(dl, library) {
  library.def(
      "paged_attention(Tensor query, Tensor keys, Tensor values, int[] lengths, Tensor table, "
      "Tensor? hidden, int key_heads, int block_size) -> Tensor");
  library.def("has_paged_attention(int device) -> bool", &has_paged_attention);
}

TORCH_LIBRARY_IMPL(dl, PrivateUse1, library) {
  library.impl("paged_attention", TORCH_FN(paged_attention));
}

}  // namespace dl::core::composed
