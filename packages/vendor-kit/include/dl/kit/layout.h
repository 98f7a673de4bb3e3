// What a library's descriptor of a tensor depends on, as a key of caches: dtype, sizes, strides and
// format, but not the address.
//
//   dl::kit::Lru<dl::kit::Layout, Descriptor, dl::kit::LayoutHash> descriptors{1024};
//   auto descriptor = descriptors.get(dl::kit::layout_of(x), [&] { return Descriptor(x); });
//
// The key of a plan for a whole call is several of them and the attributes: `append` in order.
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

  // Of a tensor. `format` is the library's own number of how elements lie where strides do not say
  // it. NULL, for an argument that is absent, is a layout too. Throws Error for a bad handle.
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

  // Of an attribute.
  Layout& append(int64_t value) {
    values_.push_back(value);
    return *this;
  }

  bool operator==(const Layout& other) const { return values_ == other.values_; }
  bool operator!=(const Layout& other) const { return values_ != other.values_; }

  // Of little use but as a key: lengths stand before lists, so that equal values are equal layouts.
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
