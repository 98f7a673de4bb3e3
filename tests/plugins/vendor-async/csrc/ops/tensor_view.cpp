#include "ops/tensor_view.h"

#include <algorithm>
#include <string>

#include "error.h"

namespace dl::async_test {
namespace {

std::string text(const std::vector<int64_t>& sizes) {
  std::string result = "(";
  for (size_t i = 0; i < sizes.size(); ++i)
    result += (i == 0 ? "" : ", ") + std::to_string(sizes[i]);
  return result + ")";
}

}  // namespace

TensorView TensorView::broadcast_to(const std::vector<int64_t>& shape) const {
  TensorView result = *this;
  result.sizes = shape;
  result.strides.assign(shape.size(), 0);
  bool fits = sizes.size() <= shape.size();
  for (size_t back = 1; fits && back <= sizes.size(); ++back) {
    const int64_t from = sizes[sizes.size() - back];
    const int64_t to = shape[shape.size() - back];
    if (from == to) {
      result.strides[shape.size() - back] = strides[sizes.size() - back];
    } else {
      fits = from == 1;
    }
  }
  if (!fits) {
    throw Error(DL_INVALID_ARGUMENT,
                "a tensor of shape " + text(sizes) + " does not broadcast to " + text(shape));
  }
  return result;
}

std::vector<int64_t> broadcast_shape(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  const auto& longer = a.size() >= b.size() ? a : b;
  const auto& shorter = a.size() >= b.size() ? b : a;
  std::vector<int64_t> shape = longer;
  for (size_t back = 1; back <= shorter.size(); ++back) {
    int64_t& size = shape[shape.size() - back];
    const int64_t other = shorter[shorter.size() - back];
    if (size != other && size != 1 && other != 1) {
      throw Error(DL_INVALID_ARGUMENT,
                  "shapes " + text(a) + " and " + text(b) + " do not broadcast");
    }
    if (size == 1) size = other;
  }
  return shape;
}

size_t normalized_dim(const TensorView& tensor, int64_t dim) {
  const int64_t ndim = std::max<int64_t>(1, static_cast<int64_t>(tensor.sizes.size()));
  if (dim < -ndim || dim >= ndim) {
    throw Error(DL_INVALID_ARGUMENT, "dim " + std::to_string(dim) +
                                         " is out of range for a tensor with " +
                                         std::to_string(tensor.sizes.size()) + " dimensions");
  }
  return static_cast<size_t>(dim < 0 ? dim + ndim : dim);
}

}  // namespace dl::async_test
