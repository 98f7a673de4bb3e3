// scatter and scatter_reduce: the functional and out= forms copy the input and scatter in place;
// reductions that the contract does not have are composed of other operators.
#include <ATen/Dispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/scatter.h>
#include <ATen/ops/scatter_add.h>
#include <ATen/ops/scatter_reduce.h>
#include <ATen/ops/zeros_like.h>

#include <limits>

#include "aten/kernel/composed.h"
#include "aten/kernel/wrapper.h"
#include "aten/layout/aliases.h"
#include "aten/layout/outputs.h"
#include "aten/plans/scatter.h"

namespace dl::core::composed {
namespace {

Tensor copied(const Tensor& self) { return self.clone(at::MemoryFormat::Contiguous); }

void start(Tensor& out, const Tensor& self, const Tensor& index) {
  start_out(out, self);
  at::assert_no_overlap(out, index);
}

void start(Tensor& out, const Tensor& self, const Tensor& index, const Tensor& src) {
  start(out, self, index);
  at::assert_no_overlap(out, src);
}

Tensor scatter_src(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return copied(self).scatter_(dim, index, src);
}
Tensor& scatter_src_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                        Tensor& out) {
  start(out, self, index, src);
  return out.scatter_(dim, index, src);
}

Tensor scatter_value(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  return copied(self).scatter_(dim, index, value);
}
Tensor& scatter_value_out(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                          Tensor& out) {
  start(out, self, index);
  return out.scatter_(dim, index, value);
}

Tensor scatter_by(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                  std::string_view reduce) {
  return copied(self).scatter_(dim, index, src, reduce);
}
Tensor& scatter_by_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                       std::string_view reduce, Tensor& out) {
  start(out, self, index, src);
  return out.scatter_(dim, index, src, reduce);
}

Tensor scatter_value_by(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                        std::string_view reduce) {
  return copied(self).scatter_(dim, index, value, reduce);
}
Tensor& scatter_value_by_out(const Tensor& self, int64_t dim, const Tensor& index,
                             const Scalar& value, std::string_view reduce, Tensor& out) {
  start(out, self, index);
  return out.scatter_(dim, index, value, reduce);
}

Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return copied(self).scatter_add_(dim, index, src);
}
Tensor& scatter_add_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                        Tensor& out) {
  start(out, self, index, src);
  return out.scatter_add_(dim, index, src);
}

Site reduce_site{"scatter_reduce_.two", {"scatter_reduce_.two"}, {Op::diopiScatterInp}};

// The contract's name of a reduction, or NULL.
const char* contract_word(std::string_view reduce) {
  if (reduce == "sum") return "add";
  if (reduce == "prod") return "multiply";
  if (reduce == "amax") return "amax";
  if (reduce == "amin") return "amin";
  return nullptr;
}

bool reduce_natively(Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                     const char* word) {
  const int device = self.get_device();
  const auto function = DL_CONTRACT_FUNCTION(device_unchecked(device), diopiScatterInp);
  OutputPlan plan;
  AxisValues values;
  if (function == nullptr || !plans::scatter(plan, values, self, dim, index, src)) return false;
  NativeCall call(reduce_site, device);
  OutputHandle target(self);
  return call.run("diopiScatterInp", function, target.get(), values.dim, TensorHandle(src).get(),
                  TensorHandle(index).get(), word);
}

// The identity element of a reduction.
Scalar neutral(const Tensor& self, std::string_view reduce) {
  if (reduce == "prod") return 1;
  if (reduce != "amax" && reduce != "amin") return 0;
  const bool largest = reduce == "amax";
  if (self.is_floating_point()) {
    const double infinity = std::numeric_limits<double>::infinity();
    return largest ? -infinity : infinity;
  }
  if (self.scalar_type() == at::kBool) return !largest;
  Scalar result;
  AT_DISPATCH_INTEGRAL_TYPES(self.scalar_type(), "scatter_reduce", [&] {
    using Limits = std::numeric_limits<scalar_t>;
    result = static_cast<int64_t>(largest ? Limits::lowest() : Limits::max());
  });
  return result;
}

bool reducible(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
               std::string_view reduce) {
  if (reduce_site.disabled.load(std::memory_order_relaxed) || self.is_complex()) return false;
  OutputPlan plan;
  AxisValues values;
  return (reduce == "mean" || contract_word(reduce) != nullptr) &&
         plans::scatter(plan, values, self, dim, index, src);
}

Tensor& scatter_reduce_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                        std::string_view reduce, bool include_self) {
  const auto leave = [&]() -> Tensor& {
    return on_cpu<"scatter_reduce_.two",
                  Tensor&(Tensor&, int64_t, const Tensor&, const Tensor&, std::string_view, bool)>(
        self, dim, index, src, reduce, include_self);
  };
  if (!reducible(self, dim, index, src, reduce)) return leave();
  if (wants_fixed_order(self)) {
    if (reduce != "prod") return leave();
    alert_open_order("scatter_reduce_.two with reduce='prod'");
  }
  if (reduce != "mean") {
    const Tensor before = include_self ? Tensor() : self.clone();
    if (!include_self) self.scatter_(dim, index, neutral(self, reduce));
    if (reduce_natively(self, dim, index, src, contract_word(reduce))) return self;
    if (!include_self) self.copy_(before);
    return leave();
  }
  Tensor count = include_self ? at::ones_like(self) : at::zeros_like(self);
  count.scatter_add_(dim, index, at::ones_like(src));
  count.masked_fill_(count.eq(0), 1);
  if (!include_self) self.scatter_(dim, index, 0);
  self.scatter_add_(dim, index, src);
  return self.is_floating_point() ? self.div_(count) : self.div_(count, "floor");
}

Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                      std::string_view reduce, bool include_self) {
  Tensor result = copied(self);
  return scatter_reduce_(result, dim, index, src, reduce, include_self);
}
Tensor& scatter_reduce_out(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                           std::string_view reduce, bool include_self, Tensor& out) {
  start(out, self, index, src);
  return scatter_reduce_(out, dim, index, src, reduce, include_self);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("scatter.src", scatter_src);
  DL_COMPOSED("scatter.src_out", scatter_src_out);
  DL_COMPOSED("scatter.value", scatter_value);
  DL_COMPOSED("scatter.value_out", scatter_value_out);
  DL_COMPOSED("scatter.reduce", scatter_by);
  DL_COMPOSED("scatter.reduce_out", scatter_by_out);
  DL_COMPOSED("scatter.value_reduce", scatter_value_by);
  DL_COMPOSED("scatter.value_reduce_out", scatter_value_by_out);
  DL_COMPOSED("scatter_add", scatter_add);
  DL_COMPOSED("scatter_add.out", scatter_add_out);
  DL_COMPOSED("scatter_reduce.two", scatter_reduce);
  DL_COMPOSED("scatter_reduce.two_out", scatter_reduce_out);
  DL_KERNEL("scatter_reduce_.two", scatter_reduce_);
}

}  // namespace dl::core::composed
