// searchsorted and bucketize: a binary search for all values at once.
#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/result_type.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <string_view>

#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"
#include "aten/layout/outputs.h"
#include "aten/plans/checks.h"

namespace dl::core::composed {
namespace {

using Side = std::optional<std::string_view>;

at::Tensor elements_at(const at::Tensor& sorted, const at::Tensor& positions) {
  if (sorted.dim() != 1) return at::gather(sorted, -1, positions);
  return at::index_select(sorted, 0, positions.reshape({-1})).view(positions.sizes());
}

// Number of elements of the sequence before each value: those that are smaller or, with `right`,
// smaller or equal. NaN sorts after every number. Each step compares every value with the middle of
// the remaining candidates and discards half of them.
at::Tensor count_before(const at::Tensor& sorted, const at::Tensor& values, bool right) {
  at::Tensor before =
      at::zeros_like(values, values.options().dtype(at::kLong), at::MemoryFormat::Contiguous);
  const auto skip = [&](int64_t ahead, int64_t count) {
    const at::Tensor probe =
        elements_at(sorted, ahead == 0 ? before : at::add(before, at::Scalar(ahead)));
    const at::Tensor stays = right ? at::gt(probe, values) : at::ge(probe, values);
    before = at::where(stays, before, at::add(before, at::Scalar(count)));
  };
  int64_t candidates = sorted.size(-1);
  for (; candidates > 1; candidates -= candidates / 2) skip(candidates / 2 - 1, candidates / 2);
  if (candidates == 1 && values.numel() > 0) skip(0, 1);
  return before;
}

// Returns true if torch accepts the arguments; otherwise torch raises the error.
bool searches(const at::Tensor& sorted, const at::Tensor& values, bool right, const Side& side,
              const OptionalTensor& sorter) {
  if (!plans::is_real(sorted) || sorted.scalar_type() == at::kBool || sorted.dim() == 0 ||
      sorted.device() != values.device() || sorted.scalar_type() != values.scalar_type()) {
    return false;
  }
  if (side && *side != "left" && *side != "right") return false;
  if (side && *side == "left" && right) return false;
  if (sorted.dim() != 1 &&
      (values.dim() != sorted.dim() ||
       values.sizes().slice(0, values.dim() - 1) != sorted.sizes().slice(0, sorted.dim() - 1))) {
    return false;
  }
  return !sorter || !sorter->defined() ||
         (sorter->device() == sorted.device() && sorter->sizes() == sorted.sizes() &&
          sorter->scalar_type() == at::kLong);
}

at::Tensor found(const at::Tensor& sorted, const at::Tensor& values, bool out_int32, bool right,
                 const Side& side, const OptionalTensor& sorter) {
  const bool from_right = right || (side && *side == "right");
  const at::Tensor sequence =
      sorter && sorter->defined() ? at::gather(sorted, -1, *sorter) : sorted;
  const at::Tensor counts = count_before(sequence, values, from_right);
  return out_int32 ? counts.to(at::kInt) : counts;
}

at::Tensor searchsorted(const at::Tensor& sorted, const at::Tensor& self, bool out_int32,
                        bool right, Side side, const OptionalTensor& sorter) {
  if (!searches(sorted, self, right, side, sorter)) {
    return on_cpu<"searchsorted.Tensor", decltype(searchsorted)>(sorted, self, out_int32, right,
                                                                 side, sorter);
  }
  return found(sorted, self, out_int32, right, side, sorter);
}

at::Tensor& searchsorted_out(const at::Tensor& sorted, const at::Tensor& self, bool out_int32,
                             bool right, Side side, const OptionalTensor& sorter, at::Tensor& out) {
  if (!searches(sorted, self, right, side, sorter) ||
      out.scalar_type() != (out_int32 ? at::kInt : at::kLong)) {
    return on_cpu<"searchsorted.Tensor_out", decltype(searchsorted_out)>(sorted, self, out_int32,
                                                                         right, side, sorter, out);
  }
  return write_to(out, found(sorted, self, out_int32, right, side, sorter));
}

// The value and the sequence, converted to the dtype in which torch compares them.
struct Comparable {
  at::Tensor sorted, value;
  Comparable(const at::Tensor& sequence, const at::Scalar& number) {
    const at::ScalarType type = at::result_type(sequence, number);
    sorted = sequence.to(type);
    value = at::scalar_tensor(number, sequence.options().dtype(type));
  }
};

at::Tensor searchsorted_scalar(const at::Tensor& sorted, const at::Scalar& self, bool out_int32,
                               bool right, Side side, const OptionalTensor& sorter) {
  const Comparable both(sorted, self);
  if (sorted.dim() != 1 || !searches(both.sorted, both.value, right, side, sorter)) {
    return on_cpu<"searchsorted.Scalar", decltype(searchsorted_scalar)>(sorted, self, out_int32,
                                                                        right, side, sorter);
  }
  return found(both.sorted, both.value, out_int32, right, side, sorter);
}

at::Tensor& searchsorted_scalar_out(const at::Tensor& sorted, const at::Scalar& self,
                                    bool out_int32, bool right, Side side,
                                    const OptionalTensor& sorter, at::Tensor& out) {
  const Comparable both(sorted, self);
  if (sorted.dim() != 1 || !searches(both.sorted, both.value, right, side, sorter) ||
      out.scalar_type() != (out_int32 ? at::kInt : at::kLong)) {
    return on_cpu<"searchsorted.Scalar_out", decltype(searchsorted_scalar_out)>(
        sorted, self, out_int32, right, side, sorter, out);
  }
  return write_to(out, found(both.sorted, both.value, out_int32, right, side, sorter));
}

at::Tensor bucketize(const at::Tensor& self, const at::Tensor& boundaries, bool out_int32,
                     bool right) {
  if (boundaries.dim() != 1 || !searches(boundaries, self, right, std::nullopt, std::nullopt)) {
    return on_cpu<"bucketize.Tensor", decltype(bucketize)>(self, boundaries, out_int32, right);
  }
  return found(boundaries, self, out_int32, right, std::nullopt, std::nullopt);
}

at::Tensor& bucketize_out(const at::Tensor& self, const at::Tensor& boundaries, bool out_int32,
                          bool right, at::Tensor& out) {
  if (boundaries.dim() != 1 || !searches(boundaries, self, right, std::nullopt, std::nullopt) ||
      out.scalar_type() != (out_int32 ? at::kInt : at::kLong)) {
    return on_cpu<"bucketize.Tensor_out", decltype(bucketize_out)>(self, boundaries, out_int32,
                                                                   right, out);
  }
  return write_to(out, found(boundaries, self, out_int32, right, std::nullopt, std::nullopt));
}

at::Tensor bucketize_scalar(const at::Scalar& self, const at::Tensor& boundaries, bool out_int32,
                            bool right) {
  const Comparable both(boundaries, self);
  if (boundaries.dim() != 1 ||
      !searches(both.sorted, both.value, right, std::nullopt, std::nullopt)) {
    return on_cpu<"bucketize.Scalar", decltype(bucketize_scalar)>(self, boundaries, out_int32,
                                                                  right);
  }
  return found(both.sorted, both.value, out_int32, right, std::nullopt, std::nullopt);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("searchsorted.Tensor", searchsorted);
  DL_COMPOSED("searchsorted.Tensor_out", searchsorted_out);
  DL_COMPOSED("searchsorted.Scalar", searchsorted_scalar);
  DL_COMPOSED("searchsorted.Scalar_out", searchsorted_scalar_out);
  DL_COMPOSED("bucketize.Tensor", bucketize);
  DL_COMPOSED("bucketize.Tensor_out", bucketize_out);
  DL_COMPOSED("bucketize.Scalar", bucketize_scalar);
}

}  // namespace dl::core::composed
