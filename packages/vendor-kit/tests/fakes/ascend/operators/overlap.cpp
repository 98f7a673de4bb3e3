// Arguments that share memory.
#include <algorithm>
#include <functional>
#include <map>

#include "executor.h"

namespace fake_aclnn {
namespace {

struct Region {
  const Check* check;
  bool written;
  const Bound* tensor;
  uintptr_t begin, end;
};

bool is_same_view(const Bound& a, const Bound& b) {
  if (a.base != b.base || a.offset != b.offset || element_bytes(a.dtype) != element_bytes(b.dtype))
    return false;
  // One element is the same whatever the number of dimensions.
  if (elements(a) == 1 && elements(b) == 1) return true;
  if (a.sizes.size() != b.sizes.size()) return false;
  for (size_t i = 0; i < a.sizes.size(); ++i) {
    if (a.sizes[i] != b.sizes[i] || (a.sizes[i] != 1 && a.strides[i] != b.strides[i])) return false;
  }
  return true;
}

// Returns true if two interleaved views, such as the columns of a matrix, share no element: both
// have the same strides and dtype, and the distance of their first elements is not a sum of them.
bool is_interleaved(const Bound& a, const Bound& b) {
  if (a.strides.size() != b.strides.size() || a.dtype != b.dtype || a.base != b.base) return false;
  for (size_t i = 0; i < a.strides.size(); ++i) {
    if (a.sizes[i] != 1 && b.sizes[i] != 1 && a.strides[i] != b.strides[i]) return false;
  }
  int64_t apart = a.offset < b.offset ? b.offset - a.offset : a.offset - b.offset;
  const Bound& first = a.offset < b.offset ? a : b;
  const Bound& other = a.offset < b.offset ? b : a;
  // Greedy from the largest stride: exact for views of one dense tensor, whose strides nest.
  std::map<int64_t, int64_t, std::greater<>> by_stride;
  for (size_t i = 0; i < first.strides.size(); ++i) {
    const int64_t size = std::max(first.sizes[i], other.sizes[i]);
    if (size > 1) by_stride[first.strides[i]] = size;
  }
  for (const auto& [stride, size] : by_stride) {
    if (stride == 0) continue;
    const int64_t steps = apart / stride;
    if (steps >= size) return true;
    apart -= steps * stride;
  }
  return apart != 0;
}

}  // namespace

int check_overlap(const Function& function, const std::vector<Argument>& bound) {
  std::vector<Region> regions;
  auto& arguments = const_cast<std::vector<Argument>&>(bound);
  for_each_tensor(function, arguments, [&](const Check& check, bool written, Bound& tensor) {
    if (elements(tensor) == 0) return;
    const auto base = reinterpret_cast<uintptr_t>(tensor.base);
    const auto bytes = static_cast<int64_t>(element_bytes(tensor.dtype));
    regions.push_back({&check, written, &tensor,
                       base + static_cast<uintptr_t>(tensor.offset * bytes),
                       base + static_cast<uintptr_t>(reach_of(tensor) * bytes)});
  });
  for (const Region& out : regions) {
    if (!out.written) continue;
    for (const Region& other : regions) {
      if (&other == &out || other.begin >= out.end || out.begin >= other.end) continue;
      if (!other.written && is_same_view(*out.tensor, *other.tensor)) continue;
      if (is_interleaved(*out.tensor, *other.tensor)) continue;
      return misuse(std::string(function.name) + ": " + out.check->name +
                    " shares part of its memory with " + other.check->name);
    }
  }
  return kOk;
}

}  // namespace fake_aclnn
