#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "error.h"
#include "ops/dtypes.h"
#include "ops/launch.h"
#include "ops/ops.h"

namespace dl::async_test {
namespace {

/** An inner loop over `dims` of a tensor, and an outer loop over its other dimensions. */
struct Axis {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

void append(Axis& axis, const TensorView& tensor, size_t dim) {
  axis.sizes.push_back(tensor.sizes[dim]);
  axis.strides.push_back(tensor.strides[dim]);
}

}  // namespace

diopiError_t diopiSum(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input, diopiSize_t dim) {
  const Launch launch(ctx, "diopiSum");
  const TensorView to = launch.view(out);
  const TensorView from = launch.view(input);
  if (!is_computed(to.dtype) || !is_numeric(from.dtype)) return diopiDtypeNotSupported;
  std::vector<bool> reduced(std::max<size_t>(1, from.sizes.size()), dim.len == 0);
  for (int64_t i = 0; i < dim.len; ++i) reduced[normalized_dim(from, dim.data[i])] = true;
  Axis inner;
  Axis outer;
  std::vector<int64_t> out_strides;
  const bool keeps_dims = to.sizes.size() == from.sizes.size();
  for (size_t d = 0; d < from.sizes.size(); ++d) {
    append(reduced[d] ? inner : outer, from, d);
    if (reduced[d]) continue;
    const size_t place = keeps_dims ? d : outer.sizes.size() - 1;
    if (place >= to.sizes.size() || to.sizes[place] != from.sizes[d]) {
      throw Error(DL_INVALID_ARGUMENT,
                  "the output's shape is not the input's without the summed dimensions");
    }
    out_strides.push_back(to.strides[place]);
  }
  launch.enqueue([to, from, inner, outer, out_strides] {
    with_computed(to.dtype, [&](auto zero) {
      // float32 is accumulated in double: the tests have a tight bound.
      using Sum = std::conditional_t<std::is_integral_v<decltype(zero)>, uint64_t, double>;
      using T = std::conditional_t<std::is_integral_v<decltype(zero)>, int64_t, double>;
      walk<2>(outer.sizes, {&out_strides, &outer.strides}, [&](const auto& at) {
        Sum sum = 0;
        walk<1>(inner.sizes, {&inner.strides},
                [&](const auto& step) { sum += static_cast<Sum>(load<T>(from, at[1] + step[0])); });
        store(to, at[0], static_cast<T>(sum));
      });
    });
  });
  return diopiSuccess;
}

diopiError_t diopiSoftmax(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                          diopiConstTensorHandle_t input, int64_t dim) {
  const Launch launch(ctx, "diopiSoftmax");
  const TensorView to = launch.view(out);
  const TensorView from = launch.view(input).broadcast_to(to.sizes);
  if (!is_floating(to.dtype) || !is_numeric(from.dtype)) return diopiDtypeNotSupported;
  const size_t chosen = normalized_dim(from, dim);
  Axis row_in;
  Axis row_out;
  Axis rows_in;
  Axis rows_out;
  for (size_t d = 0; d < from.sizes.size(); ++d) {
    append(d == chosen ? row_in : rows_in, from, d);
    append(d == chosen ? row_out : rows_out, to, d);
  }
  launch.enqueue([to, from, row_in, row_out, rows_in, rows_out] {
    walk<2>(rows_in.sizes, {&rows_out.strides, &rows_in.strides}, [&](const auto& at) {
      double largest = -std::numeric_limits<double>::infinity();
      walk<1>(row_in.sizes, {&row_in.strides}, [&](const auto& step) {
        largest = std::max(largest, load<double>(from, at[1] + step[0]));
      });
      std::vector<double> powers;
      double sum = 0;
      walk<1>(row_in.sizes, {&row_in.strides}, [&](const auto& step) {
        powers.push_back(std::exp(load<double>(from, at[1] + step[0]) - largest));
        sum += powers.back();
      });
      size_t next = 0;
      walk<1>(row_out.sizes, {&row_out.strides},
              [&](const auto& step) { store(to, at[0] + step[0], powers[next++] / sum); });
    });
  });
  return diopiSuccess;
}

}  // namespace dl::async_test
