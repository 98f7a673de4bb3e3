// Element access to a tensor of the host, whatever its strides.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "diopi/diopirt.h"
#include "dl/handles.h"

namespace faulty {

inline float widen(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

inline uint16_t narrow(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// The elements of a tensor in the order of its indices. A missing tensor has none.
class Elements {
 public:
  explicit Elements(const void* handle) {
    const auto tensor = static_cast<diopiTensorHandle_t>(const_cast<void*>(handle));
    diopiSize_t sizes, strides;
    if (tensor == nullptr || diopiGetTensorDtype(tensor, &dtype_) != diopiSuccess ||
        diopiGetTensorData(tensor, &data_) != diopiSuccess || data_ == nullptr ||
        diopiGetTensorShape(tensor, &sizes) != diopiSuccess ||
        diopiGetTensorStride(tensor, &strides) != diopiSuccess)
      return;
    shape_.assign(sizes.data, sizes.data + sizes.len);
    strides_.assign(strides.data, strides.data + sizes.len);
    count_ = 1;
    for (const int64_t size : shape_) count_ *= size;
  }

  int64_t count() const { return is_known() ? count_ : 0; }
  diopiDtype_t dtype() const { return dtype_; }
  const std::vector<int64_t>& shape() const { return shape_; }

  int64_t bytes() const {
    int64_t each = 1;
    if (dtype_ == diopi_dtype_float32) each = 4;
    if (dtype_ == diopi_dtype_float64 || dtype_ == diopi_dtype_int64) each = 8;
    if (dtype_ == diopi_dtype_bfloat16) each = 2;
    return each * count_;
  }

  double get(int64_t i) const {
    const int64_t at = offset(i);
    switch (dtype_) {
      case diopi_dtype_float32:
        return static_cast<float*>(data_)[at];
      case diopi_dtype_float64:
        return static_cast<double*>(data_)[at];
      case diopi_dtype_bfloat16:
        return widen(static_cast<uint16_t*>(data_)[at]);
      case diopi_dtype_int64:
        return static_cast<double>(static_cast<int64_t*>(data_)[at]);
      default:
        return static_cast<uint8_t*>(data_)[at];
    }
  }

  void set(int64_t i, double value) const {
    const int64_t at = offset(i);
    switch (dtype_) {
      case diopi_dtype_float32:
        static_cast<float*>(data_)[at] = static_cast<float>(value);
        break;
      case diopi_dtype_float64:
        static_cast<double*>(data_)[at] = value;
        break;
      case diopi_dtype_bfloat16:
        static_cast<uint16_t*>(data_)[at] = narrow(static_cast<float>(value));
        break;
      case diopi_dtype_int64:
        static_cast<int64_t*>(data_)[at] = static_cast<int64_t>(value);
        break;
      default:
        static_cast<uint8_t*>(data_)[at] = value != 0;
    }
  }

 private:
  bool is_known() const {
    return dtype_ == diopi_dtype_float32 || dtype_ == diopi_dtype_float64 ||
           dtype_ == diopi_dtype_bfloat16 || dtype_ == diopi_dtype_int64 ||
           dtype_ == diopi_dtype_bool;
  }

  int64_t offset(int64_t i) const {
    int64_t at = 0;
    for (size_t d = shape_.size(); d-- > 0;) {
      at += i % shape_[d] * strides_[d];
      i /= shape_[d];
    }
    return at;
  }

  void* data_ = nullptr;
  diopiDtype_t dtype_ = diopi_dtype_int8;
  std::vector<int64_t> shape_, strides_;
  int64_t count_ = 0;
};

}  // namespace faulty
