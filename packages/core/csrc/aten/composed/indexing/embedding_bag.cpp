// Embedding bags: sum, mean and maximum of rows of an embedding table, and their gradients.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_embedding_bag_sparse_backward.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <limits>
#include <tuple>

#include "aten/kernel/composed.h"
#include "aten/kernel/wrapper.h"
#include "aten/layout/aliases.h"
#include "aten/plans/checks.h"

namespace dl::core::composed {
namespace {

using Four = std::tuple<Tensor, Tensor, Tensor, Tensor>;

enum Mode : int64_t { kSum = 0, kMean = 1, kMax = 2 };

bool is_given(const OptionalTensor& tensor) { return tensor && tensor->defined(); }

bool vendor_supports(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                     int64_t mode, const OptionalTensor& weights, bool include_last,
                     int64_t padding) {
  if (!plans::alike(weight) || !plans::floating(weight) || weight.dim() != 2) return false;
  if (!plans::on_same_device(weight, indices) || !plans::on_same_device(weight, offsets) ||
      !plans::is_index(indices) || !plans::is_index(offsets))
    return false;
  if (indices.dim() != 1 || offsets.dim() != 1) return false;
  if (is_given(weights) &&
      (mode != kSum || !plans::alike(weight, *weights) || weights->sizes() != indices.sizes()))
    return false;
  return mode >= kSum && mode <= kMax && padding < weight.size(0);
}

// The bag of every index: the number of bags that start at or before the index, minus one.
Tensor bags_of(const Tensor& indices, const Tensor& starts) {
  const int64_t count = indices.numel();
  Tensor begun = at::zeros({count + 1}, starts.options());
  begun.scatter_add_(0, starts, at::ones_like(starts));
  return at::cumsum(begun.narrow(0, 0, count), 0) - 1;
}

// The maximum of each bag and column, and the table row that it comes from.
std::tuple<Tensor, Tensor> largest(const Tensor& rows, const Tensor& keep, const Tensor& bags,
                                   const Tensor& indices, const Tensor& sizes) {
  const int64_t count = indices.numel(), bag_count = sizes.numel();
  Tensor result = at::zeros({bag_count, rows.size(1)}, rows.options());
  const Tensor seen =
      rows.masked_fill(keep.logical_not().unsqueeze(1), -std::numeric_limits<double>::infinity());
  result.index_reduce_(0, bags, seen, "amax", false);
  result.masked_fill_(sizes.eq(0).unsqueeze(1), 0);
  const Tensor wins = rows.eq(result.index_select(0, bags)).logical_and(keep.unsqueeze(1));
  const Tensor number = at::arange(count, indices.options()).unsqueeze(1).expand_as(rows);
  const Tensor none = at::full({}, count, indices.options());
  Tensor first = at::full({bag_count, rows.size(1)}, count, indices.options());
  first.index_reduce_(0, bags, at::where(wins, number, none), "amin", true);
  const Tensor table = at::cat({indices, at::zeros({1}, indices.options())});
  return {result, table.index_select(0, first.reshape({-1})).view(first.sizes())};
}

// Number of indices that are in a bag: with include_last_offset, the last offset ends the last bag.
int64_t check_offsets(const Tensor& offsets, int64_t count, bool include_last) {
  if (offsets.numel() == 0) return 0;
  TORCH_CHECK(offsets.select(0, 0).item<int64_t>() == 0,
              "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start "
              "from position 0. However, got ",
              offsets.select(0, 0).item<int64_t>());
  const int64_t last = offsets.select(0, -1).item<int64_t>();
  TORCH_CHECK(last <= count, "offsets[-1] can not be greater than input's length(", count,
              ") but got offsets[-1] of ", last);
  return include_last ? last : count;
}

// Results as in torch's meta kernel for devices: the second is the bag of every index, the third
// has an entry for every offset. Indices after the last offset are in an additional last bag, which
// has no row in the result; without offsets all indices are in bag 0.
Four bag_forward(const Tensor& weight, const Tensor& given_indices, const Tensor& given_offsets,
                 int64_t mode, const OptionalTensor& weights, bool include_last, int64_t padding) {
  const Tensor all = given_indices.to(at::kLong), offsets = given_offsets.to(at::kLong);
  const int64_t bag_count = offsets.numel() - (include_last ? 1 : 0);
  const int64_t used = check_offsets(offsets, all.numel(), include_last);
  const Tensor every = offsets.numel() == 0 ? at::zeros_like(all) : bags_of(all, offsets);
  const Tensor indices = all.narrow(0, 0, used), bags = every.narrow(0, 0, used);
  const Tensor keep = indices.ne(padding);
  Tensor sizes = at::zeros({offsets.numel()}, indices.options());
  sizes.scatter_add_(0, bags, keep.to(at::kLong));
  const Tensor filled = sizes.narrow(0, 0, bag_count);
  const auto pack = [&](const Tensor& result, const Tensor& winners) -> Four {
    const auto dtype = given_indices.scalar_type();
    return {result, every.to(dtype), sizes.to(dtype), winners.to(dtype)};
  };
  Tensor rows = weight.index_select(0, indices);
  if (mode == kMax) {
    if (bag_count == 0)
      return pack(at::zeros({0, weight.size(1)}, weight.options()),
                  at::zeros({0, weight.size(1)}, indices.options()));
    auto [result, winners] = largest(rows, keep, bags, indices, filled);
    return pack(result, winners);
  }
  if (is_given(weights)) rows = rows * weights->narrow(0, 0, used).unsqueeze(1);
  if (padding >= 0) rows = rows.masked_fill(keep.logical_not().unsqueeze(1), 0);
  Tensor result = at::zeros({bag_count, weight.size(1)}, weight.options());
  result.index_add_(0, bags, rows);
  if (mode == kMean) result.div_(filled.clamp_min(1).unsqueeze(1).to(weight.scalar_type()));
  return pack(result, at::empty({0}, indices.options()));
}

using ForwardSignature = Four(const Tensor&, const Tensor&, const Tensor&, bool, int64_t, bool,
                              const OptionalTensor&, bool, int64_t);

template <Text name>
Four embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                   bool scale_by_frequency, int64_t mode, bool sparse,
                   const OptionalTensor& weights, bool include_last, int64_t padding) {
  TORCH_CHECK(!include_last || offsets.numel() > 0,
              "embedding_bag: with include_last_offset the last offset is the end of the last bag, "
              "but offsets is empty; give at least [0]");
  if (vendor_supports(weight, indices, offsets, mode, weights, include_last, padding))
    return bag_forward(weight, indices, offsets, mode, weights, include_last, padding);
  return on_cpu<name, ForwardSignature>(weight, indices, offsets, scale_by_frequency, mode, sparse,
                                        weights, include_last, padding);
}

// Appends a row of zeros for indices that are in no bag, if there can be such indices.
Tensor with_open_bag(const Tensor& grad, int64_t offset_count) {
  if (grad.size(0) > 0 && grad.size(0) == offset_count) return grad;
  return at::cat({grad, at::zeros({1, grad.size(1)}, grad.options())});
}
// Sizes of the first `bag_count` bags.
Tensor sizes_of(const Tensor& sizes, int64_t bag_count) {
  if (sizes.numel() >= bag_count) return sizes.narrow(0, 0, bag_count);
  return at::zeros({bag_count}, sizes.options());
}

Tensor dense_backward(const Tensor& given_grad, const Tensor& given_indices, const Tensor& bags,
                      const Tensor& given_sizes, const Tensor& winners, int64_t num_weights,
                      bool scale_by_frequency, int64_t mode, const OptionalTensor& weights,
                      int64_t padding) {
  const Tensor indices = given_indices.to(at::kLong);
  Tensor result = at::zeros({num_weights, given_grad.size(1)}, given_grad.options());
  if (mode == kMax) {
    if (wants_fixed_order(given_grad)) alert_open_order("_embedding_bag_backward with mode='max'");
    const Tensor sizes = sizes_of(given_sizes, given_grad.size(0));
    const Tensor counted = given_grad.masked_fill(sizes.eq(0).unsqueeze(1), 0);
    return result.scatter_add_(0, winners.to(at::kLong), counted);
  }
  const Tensor grad = with_open_bag(given_grad, given_sizes.numel());
  Tensor rows = grad.index_select(0, bags);
  if (is_given(weights)) rows = rows * weights->unsqueeze(1);
  if (mode == kMean) {
    const Tensor sizes = sizes_of(given_sizes, grad.size(0)).clamp_min(1).index_select(0, bags);
    rows = rows / sizes.unsqueeze(1).to(grad.scalar_type());
  }
  if (scale_by_frequency) {
    Tensor count = at::zeros({num_weights}, indices.options());
    count.scatter_add_(0, indices, at::ones_like(indices));
    rows = rows / count.index_select(0, indices).unsqueeze(1).to(grad.scalar_type());
  }
  if (padding >= 0) rows = rows.masked_fill(indices.eq(padding).unsqueeze(1), 0);
  return result.index_add_(0, indices, rows);
}

Tensor bag_backward(const Tensor& grad, const Tensor& indices, const Tensor& offsets,
                    const Tensor& bags, const Tensor& sizes, const Tensor& winners,
                    int64_t num_weights, bool scale_by_frequency, int64_t mode, bool sparse,
                    const OptionalTensor& weights, int64_t padding) {
  if (sparse) {
    const Tensor rows = with_open_bag(grad, sizes.numel());
    // Means are divided by the bag sizes, including the size of the additional bag.
    const Tensor divisors = sizes_of(sizes, rows.size(0)).clamp_min(1);
    return at::_embedding_bag_sparse_backward(rows, indices, offsets, bags, divisors, num_weights,
                                              scale_by_frequency, mode, weights, padding);
  }
  return dense_backward(grad, indices, bags, sizes, winners, num_weights, scale_by_frequency, mode,
                        weights, padding);
}

Tensor per_sample_backward(const Tensor& given_grad, const Tensor& weight, const Tensor& indices,
                           const Tensor& offsets, const Tensor& bags, int64_t mode,
                           int64_t padding) {
  TORCH_CHECK(mode == kSum,
              "embedding_bag_backward: per_sample_weights only supported for mode='sum'");
  const Tensor grad = with_open_bag(given_grad, offsets.numel());
  const Tensor table = weight.index_select(0, indices);
  const Tensor result = (grad.index_select(0, bags) * table).sum(1);
  return padding >= 0 ? result.masked_fill(indices.eq(padding), 0) : result;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("_embedding_bag", embedding_bag<"_embedding_bag">);
  DL_COMPOSED("_embedding_bag_forward_only", embedding_bag<"_embedding_bag_forward_only">);
  DL_COMPOSED("_embedding_bag_dense_backward", dense_backward);
  DL_COMPOSED("_embedding_bag_backward", bag_backward);
  DL_COMPOSED("_embedding_bag_per_sample_weights_backward", per_sample_backward);
}

}  // namespace dl::core::composed
