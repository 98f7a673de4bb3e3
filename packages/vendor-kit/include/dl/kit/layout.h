// Cache key of a library's tensor descriptor: dtype, sizes, strides and format, but not the
// address.
//
//   dl::kit::Lru<dl::kit::Layout, Descriptor, dl::kit::LayoutHash> descriptors{1024};
//   auto descriptor = descriptors.get(dl::kit::layout_of(x), [&] { return Descriptor(x); });
//
// The key of a plan for a whole call consists of several tensors and the attributes: `append` them
// in order.
#ifndef DL_KIT_LAYOUT_H_
#define DL_KIT_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "diopi/diopirt.h"
#include "dl/kit/base.h"
#include "dl/kit/status.h"

DL_KIT_BEGIN

class Layout {
 public:
  Layout() = default;

  // Appends a tensor. `format` is the library's own constant for a memory format that strides do
  // not determine. NULL, for an absent argument, is a layout too. Throws Error for an invalid
  // handle.
  Layout& append(diopiConstTensorHandle_t tensor, int64_t format = 0) {
    if (tensor == nullptr) return append(kAbsent);
    diopiDtype_t dtype;
    diopiSize_t sizes, strides;
    if (diopiGetTensorDtype(tensor, &dtype) != diopiSuccess ||
        diopiGetTensorShape(tensor, &sizes) != diopiSuccess ||
        diopiGetTensorStride(tensor, &strides) != diopiSuccess)
      throw Error(DL_INVALID_ARGUMENT, "a handle is not a tensor");
    append(dtype).append(format).append(sizes.len);
    values_.insert(values_.end(), sizes.data, sizes.data + sizes.len);
    values_.insert(values_.end(), strides.data, strides.data + strides.len);
    return *this;
  }

  // Appends an attribute.
  Layout& append(int64_t value) {
    values_.push_back(value);
    return *this;
  }

  bool operator==(const Layout& other) const { return values_ == other.values_; }
  bool operator!=(const Layout& other) const { return values_ != other.values_; }

  // Only useful as a key: each list is preceded by its length, so that equal values mean equal
  // layouts.
  const std::vector<int64_t>& values() const { return values_; }

 private:
  static constexpr int64_t kAbsent = -1;

  std::vector<int64_t> values_;
};

struct LayoutHash {
  size_t operator()(const Layout& layout) const noexcept {
    uint64_t state = layout.values().size();
    for (const int64_t value : layout.values()) {
      state = (state ^ static_cast<uint64_t>(value)) * 0x9E3779B97F4A7C15u;
      state ^= state >> 29;
    }
    return static_cast<size_t>(state);
  }
};

inline Layout layout_of(diopiConstTensorHandle_t tensor, int64_t format = 0) {
  Layout layout;
  layout.append(tensor, format);
  return layout;
}

DL_KIT_END

#endif  // DL_KIT_LAYOUT_H_
