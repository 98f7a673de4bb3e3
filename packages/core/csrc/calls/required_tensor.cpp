#include "calls/required_tensor.h"

#include <c10/util/StringUtil.h>

#include "dl/foreign.hpp"

namespace dl::core {
namespace {

// A limit above what any operator needs, but low enough to validate with one memory check.
constexpr int64_t kMostDimensions = 64;

c10::IntArrayRef values(const diopiSize_t* given, const char* what, foreign::Pages& pages) {
  if (!foreign::readable(given, sizeof(*given), pages))
    throw VendorDefect(c10::str("diopiRequireTensor was called with a ", what, " at ", given,
                                ", which is not memory of this process"));
  if (given->len < 0 || given->len > kMostDimensions)
    throw VendorDefect(c10::str("diopiRequireTensor was called with a ", what, " of ", given->len,
                                " dimensions; from 0 to ", kMostDimensions, " are possible"));
  if (given->len == 0) return {};
  const size_t count = static_cast<size_t>(given->len);
  if (!foreign::readable(given->data, count * sizeof(int64_t), pages))
    throw VendorDefect(c10::str("diopiRequireTensor was called with a ", what, " of ", count,
                                " dimensions at ", static_cast<const void*>(given->data),
                                ", which is not memory of this process"));
  const c10::IntArrayRef found{given->data, count};
  for (const int64_t value : found) {
    if (value < 0)
      throw VendorDefect(c10::str("diopiRequireTensor was called with a ", what, " of ", found,
                                  ", where ", value, " is negative"));
  }
  return found;
}

// Computes the bytes from the first element to the last; returns false on overflow of 64 bits.
bool fits(c10::IntArrayRef sizes, const std::optional<c10::IntArrayRef>& strides,
          int64_t element_bytes) {
  for (const int64_t size : sizes) {
    if (size == 0) return true;
  }
  int64_t last = 0, step = 1, reach = 0, bytes = 0;
  for (size_t i = sizes.size(); i-- > 0;) {
    const int64_t stride = strides ? (*strides)[i] : step;
    if (__builtin_mul_overflow(sizes[i] - 1, stride, &reach) ||
        __builtin_add_overflow(last, reach, &last) ||
        (!strides && __builtin_mul_overflow(step, sizes[i], &step)))
      return false;
  }
  return !__builtin_add_overflow(last, int64_t{1}, &last) &&
         !__builtin_mul_overflow(last, element_bytes, &bytes);
}

}  // namespace

RequiredLayout required_layout(const diopiSize_t* size, const diopiSize_t* stride,
                               size_t element_bytes) {
  // One check of mapped pages per call, because the memory may be unmapped later.
  foreign::Pages pages;
  RequiredLayout layout{values(size, "size", pages), std::nullopt};
  if (stride != nullptr) {
    // DIOPI-style libraries pass an empty list of strides for a contiguous tensor.
    const c10::IntArrayRef strides = values(stride, "stride", pages);
    if (!strides.empty()) layout.strides = strides;
  }
  if (layout.strides && layout.strides->size() != layout.sizes.size())
    throw VendorDefect(c10::str("diopiRequireTensor was called with a size of ",
                                layout.sizes.size(), " dimensions and a stride of ",
                                layout.strides->size()));
  if (!fits(layout.sizes, layout.strides, static_cast<int64_t>(element_bytes)))
    throw VendorDefect(c10::str(
        "diopiRequireTensor was called with a size of ", layout.sizes,
        layout.strides ? c10::str(" and a stride of ", *layout.strides) : std::string(),
        " for elements of ", element_bytes, " bytes, which is more than an address space holds"));
  return layout;
}

}  // namespace dl::core
