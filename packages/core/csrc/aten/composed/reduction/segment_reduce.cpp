// segment_reduce runs on the CPU, whose kernel trusts the shape and the values of its offsets: it
// would read beyond the data. Both are checked here first.
#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include "aten/kernel/composed.h"

namespace dl::core::composed {
namespace {

// `segments` are lengths or offsets: one row for each index of the dimensions before `axis`.
void check_shape(const Tensor& data, const Tensor& segments, int64_t axis, const char* name) {
  TORCH_CHECK(segments.dim() == axis + 1 && data.dim() > axis &&
                  segments.sizes().slice(0, axis) == data.sizes().slice(0, axis),
              "[segment_reduce] ", name, " has shape ", segments.sizes(), ", but data of shape ",
              data.sizes(), " needs one row of ", name, " for each index of the dimensions before ",
              axis);
}

void check_offsets(const Tensor& data, const Tensor& offsets, int64_t axis) {
  const Tensor values = offsets.to(at::kCPU, at::kLong).contiguous();
  const int64_t length = data.size(axis), row = values.size(-1);
  const int64_t* const first = values.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    const int64_t least = i % row == 0 ? 0 : first[i - 1];
    TORCH_CHECK(first[i] >= least && first[i] <= length, "[segment_reduce] offset ", first[i],
                " at index ", i, " is not between ", least, " and ", length,
                "; offsets ascend from 0 to the size of dimension ", axis);
  }
}

void check_segments(const Tensor& data, const OptionalTensor& lengths,
                    const OptionalTensor& offsets, int64_t axis) {
  if (axis < 0) axis += data.dim();
  if (axis < 0) return;  // torch raises the error
  if (lengths && lengths->defined()) check_shape(data, *lengths, axis, "lengths");
  if (!offsets || !offsets->defined()) return;
  check_shape(data, *offsets, axis, "offsets");
  check_offsets(data, *offsets, axis);
}

Tensor segment_reduce(const Tensor& data, std::string_view reduce, const OptionalTensor& lengths,
                      const OptionalTensor& indices, const OptionalTensor& offsets, int64_t axis,
                      bool unsafe, const std::optional<Scalar>& initial) {
  check_segments(data, lengths, offsets, axis);
  return on_cpu<"segment_reduce", decltype(segment_reduce)>(data, reduce, lengths, indices, offsets,
                                                            axis, unsafe, initial);
}

Tensor segment_reduce_backward(const Tensor& grad, const Tensor& output, const Tensor& data,
                               std::string_view reduce, const OptionalTensor& lengths,
                               const OptionalTensor& offsets, int64_t axis,
                               const std::optional<Scalar>& initial) {
  check_segments(data, lengths, offsets, axis);
  return on_cpu<"_segment_reduce_backward", decltype(segment_reduce_backward)>(
      grad, output, data, reduce, lengths, offsets, axis, initial);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("segment_reduce", segment_reduce);
  DL_COMPOSED("_segment_reduce_backward", segment_reduce_backward);
}

}  // namespace dl::core::composed
