// Elements of tensors in host memory: conversions to and from dtypes, and copies to and from the
// device.
#ifndef DL_KIT_LIBRARY_HOST_ELEMENTS_H_
#define DL_KIT_LIBRARY_HOST_ELEMENTS_H_

#include <cmath>
#include <cstdint>
#include <cstring>

#include "dl/context.h"
#include "dl/kit/base.h"
#include "dl/kit/library/call.h"
#include "dl/kit/library/helpers.h"
#include "dl/kit/workspace.h"
#include "dl/vendor.h"

DL_KIT_BEGIN

namespace library {

// Conversions of draws to the elements of a dtype.
inline uint16_t half_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  if (magnitude >= 0x7F800000u)
    return static_cast<uint16_t>(sign | 0x7C00u | (magnitude > 0x7F800000u ? 0x200u : 0));
  if (magnitude >= 0x477FF000u) return static_cast<uint16_t>(sign | 0x7C00u);
  // Below the smallest normal number, the addition of 2^-1 aligns and rounds the significand.
  if (magnitude < 0x38800000u) {
    float shifted;
    std::memcpy(&shifted, &magnitude, sizeof shifted);
    shifted += 0.5F;
    uint32_t rounded;
    std::memcpy(&rounded, &shifted, sizeof rounded);
    return static_cast<uint16_t>(sign | (rounded - 0x3F000000u));
  }
  const uint32_t rounded = magnitude + 0xFFFu + (magnitude >> 13 & 1);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}
inline uint16_t bfloat16_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1)) >> 16);
}
inline float half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, significand = bits & 1023;
  const float magnitude = exponent == 0    ? std::ldexp(static_cast<float>(significand), -24)
                          : exponent == 31 ? (significand == 0 ? INFINITY : NAN)
                                           : std::ldexp(1024.0F + significand, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}
inline float bfloat16_value(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

// Stores a number as element i of an array of a dtype. Does nothing for other dtypes.
template <class T>
void store(void* to, int64_t i, int32_t dtype, T value) {
  switch (dtype) {
    case diopi_dtype_float16:
      static_cast<uint16_t*>(to)[i] = half_bits(static_cast<float>(value));
      return;
    case diopi_dtype_bfloat16:
      static_cast<uint16_t*>(to)[i] = bfloat16_bits(static_cast<float>(value));
      return;
    case diopi_dtype_float32:
      static_cast<float*>(to)[i] = static_cast<float>(value);
      return;
    case diopi_dtype_float64:
      static_cast<double*>(to)[i] = static_cast<double>(value);
      return;
    case diopi_dtype_int8:
    case diopi_dtype_uint8:
      static_cast<uint8_t*>(to)[i] = static_cast<uint8_t>(static_cast<int64_t>(value));
      return;
    case diopi_dtype_bool:
      static_cast<uint8_t*>(to)[i] = value != T(0) ? 1 : 0;
      return;
    case diopi_dtype_int16:
    case diopi_dtype_uint16:
      static_cast<uint16_t*>(to)[i] = static_cast<uint16_t>(static_cast<int64_t>(value));
      return;
    case diopi_dtype_int32:
    case diopi_dtype_uint32:
      static_cast<uint32_t*>(to)[i] = static_cast<uint32_t>(static_cast<int64_t>(value));
      return;
    case diopi_dtype_int64:
    case diopi_dtype_uint64:
      static_cast<int64_t*>(to)[i] = static_cast<int64_t>(value);
      return;
    default:
      return;
  }
}
// The floating-point value of element i; 0 for other dtypes.
inline double load(const void* from, int64_t i, int32_t dtype) {
  switch (dtype) {
    case diopi_dtype_float16:
      return half_value(static_cast<const uint16_t*>(from)[i]);
    case diopi_dtype_bfloat16:
      return bfloat16_value(static_cast<const uint16_t*>(from)[i]);
    case diopi_dtype_float32:
      return static_cast<const float*>(from)[i];
    case diopi_dtype_float64:
      return static_cast<const double*>(from)[i];
    default:
      return 0.0;
  }
}

// The integer value of element i; floating-point numbers are truncated.
inline int64_t load_integer(const void* from, int64_t i, int32_t dtype) {
  switch (dtype) {
    case diopi_dtype_int8:
      return static_cast<const int8_t*>(from)[i];
    case diopi_dtype_uint8:
    case diopi_dtype_bool:
      return static_cast<const uint8_t*>(from)[i];
    case diopi_dtype_int16:
      return static_cast<const int16_t*>(from)[i];
    case diopi_dtype_uint16:
      return static_cast<const uint16_t*>(from)[i];
    case diopi_dtype_int32:
      return static_cast<const int32_t*>(from)[i];
    case diopi_dtype_uint32:
      return static_cast<const uint32_t*>(from)[i];
    case diopi_dtype_int64:
    case diopi_dtype_uint64:
      return static_cast<const int64_t*>(from)[i];
    default:
      return static_cast<int64_t>(load(from, i, dtype));
  }
}

inline void check_slot(dl_status_t* status) {
  if (status == nullptr) return;
  const Error error(static_cast<dl_code_t>(status->code),
                    status->message == nullptr ? "a copy failed" : status->message, "memory_copy");
  if (status->release != nullptr) status->release(status);
  throw error;
}

// Copies elements between the host and a contiguous tensor, by the vendor's own slot. A copy from
// the device waits for it.
inline void copy_between(Call& call, void* to, const void* from, uint64_t bytes, int32_t kind) {
  dl_vendor_t* const vendor = dl_context_vendor(call.context());
  const dl_vendor_table_t* const slots = vendor->table;
  check_slot(slots->memory_copy(vendor, call.device(), to, from, bytes, kind, call.stream()));
  if (kind == DL_COPY_DEVICE_TO_HOST)
    check_slot(slots->stream_synchronize(vendor, call.device(), call.stream()));
}

// Copies between tensors of any strides, by the library.
inline void run_copy(Call& call, const View& to, const View& from) {
  const Function* const copy = call.backend().facts().copy;
  if (copy == nullptr || !call.has(*copy)) refuse("the library has no copy between strides");
  call.backend().run(call, *copy, copy_arguments(*copy, to, from));
}
// Fills a tensor by `draw(memory)`, which writes its elements in row-major order.
template <class Draw>
void fill_from_host(Call& call, const View& out, const Draw& draw) {
  const int64_t count = out.numel();
  if (count == 0) return;
  const uint64_t bytes = static_cast<uint64_t>(count * out.element_bytes());
  void* const memory = workspace(call.context(), bytes, diopi_host);
  draw(memory);
  const View target = out.is_contiguous() ? out : call.temporary(Dtype{out.dtype}, shape(out));
  copy_between(call, target.data(), memory, bytes, DL_COPY_HOST_TO_DEVICE);
  if (!out.is_contiguous()) run_copy(call, out, target);
}
// Returns the elements of a tensor in page-locked memory. Waits for the device.
inline const void* read_to_host(Call& call, const View& x) {
  const uint64_t bytes = static_cast<uint64_t>(x.numel() * x.element_bytes());
  void* const memory = workspace(call.context(), bytes, diopi_host);
  if (bytes == 0) return memory;
  View source = x;
  if (!x.is_contiguous()) {
    source = call.temporary(Dtype{x.dtype}, shape(x));
    run_copy(call, source, x);
  }
  copy_between(call, memory, source.data(), bytes, DL_COPY_DEVICE_TO_HOST);
  return memory;
}

// Host values of a tensor's elements, for arguments that a library takes from the host.
inline Scalar read_scalar(Call& call, const View& x) {
  if (x.numel() != 1) refuse("a tensor of several elements as a number");
  const void* const memory = read_to_host(call, x);
  if (is_floating(x)) {
    Scalar made = scalar_of(load(memory, 0, x.dtype));
    made.value.stype = static_cast<diopiDtype_t>(x.dtype);
    return made;
  }
  if (is_complex(x)) refuse("a complex number");
  Scalar made = scalar_of(load_integer(memory, 0, x.dtype));
  made.value.stype = static_cast<diopiDtype_t>(x.dtype);
  return made;
}
inline Ints read_ints(Call& call, const View& x) {
  if (!is_integral(x)) refuse("integers that are stored as other numbers");
  const void* const memory = read_to_host(call, x);
  Ints values;
  for (int64_t i = 0; i < x.numel(); ++i) values.push_back(load_integer(memory, i, x.dtype));
  return values;
}

}  // namespace library

DL_KIT_END

#endif  // DL_KIT_LIBRARY_HOST_ELEMENTS_H_
