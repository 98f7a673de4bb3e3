// take, put_, masked_scatter and related operators, composed of advanced indexing.
#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/index.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros.h>

#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"
#include "aten/layout/outputs.h"

namespace dl::core::composed {
namespace {

using Indices = c10::List<std::optional<Tensor>>;

Tensor take_elements(const Tensor& self, const Tensor& index) {
  TORCH_CHECK(index.scalar_type() == at::kLong,
              "take(): Expected a long tensor for index, but got ", index.scalar_type());
  TORCH_CHECK_INDEX(self.numel() != 0 || index.numel() == 0,
                    "take(): tried to take from an empty tensor");
  return at::index(self.reshape({-1}), Indices({index}));
}

Tensor& take_out(const Tensor& self, const Tensor& index, Tensor& out) {
  check_out(out, self, self.scalar_type());
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  at::assert_no_overlap(out, index);
  return write_to(out, take_elements(self, index), OutputDtype::same);
}

// Writes through a flat view of `self`, or through a flat copy that is copied back.
template <typename Write>
Tensor& write_flat(Tensor& self, const Write& write) {
  if (self.is_contiguous()) {
    Tensor flat = self.view({-1});
    write(flat);
  } else {
    Tensor flat = self.reshape({-1});
    write(flat);
    self.copy_(flat.view(self.sizes()));
  }
  return self;
}

Tensor& put_(Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  TORCH_CHECK(index.scalar_type() == at::kLong,
              "put_(): Expected a long tensor for index, but got ", index.scalar_type());
  TORCH_CHECK(self.scalar_type() == source.scalar_type(),
              "put_(): self and source expected to have the same dtype, but got self.dtype = ",
              self.scalar_type(), " and source.dtype = ", source.scalar_type());
  TORCH_CHECK_INDEX(
      index.numel() == source.numel(),
      "put_(): Expected source and index to have the same number of elements, but got "
      "source.numel() = ",
      source.numel(), ", index.numel() = ", index.numel());
  TORCH_CHECK_INDEX(self.numel() != 0 || index.numel() == 0,
                    "put_(): Tried to put elements into an empty tensor");
  at::assert_no_internal_overlap(self);
  at::assert_no_overlap(self, index);
  at::assert_no_overlap(self, source);
  // If an index repeats, the order of writes is undefined; a CPU reference adds deterministically.
  if (!accumulate || wants_fixed_order(self)) at::globalContext().alertNotDeterministic("put_");
  if (index.numel() == 0) return self;
  return write_flat(self, [&](Tensor& flat) {
    flat.index_put_(Indices({index.reshape({-1})}), source.reshape({-1}), accumulate);
  });
}

Tensor& masked_scatter_(Tensor& self, const Tensor& mask, const Tensor& source) {
  TORCH_CHECK(self.scalar_type() == source.scalar_type(),
              "masked_scatter: expected self and source to have same dtypes but got ",
              self.scalar_type(), " and ", source.scalar_type());
  TORCH_CHECK(mask.scalar_type() == at::kBool,
              "masked_scatter_ only supports boolean masks, but got mask with dtype ",
              mask.scalar_type());
  at::assert_no_internal_overlap(self);
  const Tensor chosen = mask.expand_as(self);
  return write_flat(self, [&](Tensor& flat) {
    const Tensor places = chosen.reshape({-1}).nonzero().select(1, 0);
    TORCH_CHECK(source.numel() >= places.numel(), "masked_scatter: Expected self and source to ",
                "have same number of elements: the mask has ", places.numel(),
                " elements that are true, the source ", source.numel(), " elements");
    const Tensor values = source.reshape({-1}).narrow(0, 0, places.numel());
    flat.index_put_(Indices({places}), values);
  });
}

// Index i is repeated repeats[i] times: the index at a position is the number of runs that ended.
Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size) {
  TORCH_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  TORCH_CHECK(repeats.scalar_type() == at::kLong || repeats.scalar_type() == at::kInt,
              "repeats has to be Long or Int tensor");
  if (repeats.numel() == 0) return repeats.clone();
  TORCH_CHECK(!repeats.lt(0).any().item<bool>(), "repeats can not be negative");
  const Tensor ends = at::cumsum(repeats, 0, at::kLong);
  const int64_t total = ends.select(0, -1).item<int64_t>();
  TORCH_CHECK(!output_size || *output_size == total, "allocated size does not match required size");
  Tensor steps = at::zeros({total + 1}, ends.options());
  steps.scatter_add_(0, ends, at::ones_like(ends));
  return at::cumsum(steps.narrow(0, 0, total), 0).to(repeats.scalar_type());
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("take", take_elements);
  DL_COMPOSED("take.out", take_out);
  DL_COMPOSED("put_", put_);
  DL_COMPOSED("masked_scatter_", masked_scatter_);
  DL_COMPOSED("repeat_interleave.Tensor", repeat_interleave);
}

}  // namespace dl::core::composed
