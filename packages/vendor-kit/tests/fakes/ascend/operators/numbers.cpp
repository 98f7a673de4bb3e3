#include "numbers.h"

#include <cstring>

namespace fake_aclnn {
namespace {

struct Description {
  int dtype;
  size_t bytes;
  diopiDtype_t contract;
  const char* name;
};

constexpr Description kDtypes[] = {
    {0, 4, diopi_dtype_float32, "float32"},
    {1, 2, diopi_dtype_float16, "float16"},
    {2, 1, diopi_dtype_int8, "int8"},
    {3, 4, diopi_dtype_int32, "int32"},
    {4, 1, diopi_dtype_uint8, "uint8"},
    {6, 2, diopi_dtype_int16, "int16"},
    {7, 2, diopi_dtype_uint16, "uint16"},
    {8, 4, diopi_dtype_uint32, "uint32"},
    {9, 8, diopi_dtype_int64, "int64"},
    {10, 8, diopi_dtype_uint64, "uint64"},
    {11, 8, diopi_dtype_float64, "float64"},
    {12, 1, diopi_dtype_bool, "bool"},
    {16, 8, diopi_dtype_complex64, "complex64"},
    {17, 16, diopi_dtype_complex128, "complex128"},
    {27, 2, diopi_dtype_bfloat16, "bfloat16"},
    {33, 4, diopi_dtype_complex32, "complex32"},
};

const Description* find(int dtype) {
  for (const Description& known : kDtypes) {
    if (known.dtype == dtype) return &known;
  }
  return nullptr;
}

template <typename T>
T load(const void* memory) {
  T value;
  std::memcpy(&value, memory, sizeof value);
  return value;
}

template <typename T>
void read_integer(const void* memory, aclScalar* scalar) {
  const T value = load<T>(memory);
  scalar->integer = static_cast<int64_t>(value);
  scalar->real = static_cast<double>(value);
}
template <typename T>
void read_real(const void* memory, aclScalar* scalar) {
  scalar->real = static_cast<double>(load<T>(memory));
  scalar->integer = static_cast<int64_t>(scalar->real);
}

float half_value(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, exponent = (bits >> 10) & 31;
  const uint32_t fraction = bits & 0x3FF;
  if (exponent == 0) {
    const float value = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -value : value;
  }
  const uint32_t wide = sign | ((exponent == 31 ? 255 : exponent + 112) << 23) | (fraction << 13);
  return load<float>(&wide);
}

}  // namespace

bool read_scalar(const void* memory, int dtype, aclScalar* scalar) {
  switch (dtype) {
    case 0:
      return read_real<float>(memory, scalar), true;
    case 1:
      scalar->real = static_cast<double>(half_value(load<uint16_t>(memory)));
      scalar->integer = static_cast<int64_t>(scalar->real);
      return true;
    case 2:
      return read_integer<int8_t>(memory, scalar), true;
    case 3:
      return read_integer<int32_t>(memory, scalar), true;
    case 4:
      return read_integer<uint8_t>(memory, scalar), true;
    case 6:
      return read_integer<int16_t>(memory, scalar), true;
    case 9:
      return read_integer<int64_t>(memory, scalar), true;
    case 11:
      return read_real<double>(memory, scalar), true;
    case 12:
      return read_integer<bool>(memory, scalar), true;
    case 16:
      read_real<float>(memory, scalar);
      scalar->imaginary = static_cast<double>(load<float>(static_cast<const char*>(memory) + 4));
      return true;
    case 17:
      read_real<double>(memory, scalar);
      scalar->imaginary = load<double>(static_cast<const char*>(memory) + 8);
      return true;
    case 27: {
      const uint32_t wide = static_cast<uint32_t>(load<uint16_t>(memory)) << 16;
      return read_real<float>(&wide, scalar), true;
    }
    default:
      return false;
  }
}

size_t element_bytes(int dtype) {
  const Description* found = find(dtype);
  return found == nullptr ? 0 : found->bytes;
}
diopiDtype_t contract_dtype(int dtype) {
  const Description* found = find(dtype);
  return found == nullptr ? diopi_dtype_unsupported : found->contract;
}
const char* dtype_name(int dtype) {
  const Description* found = find(dtype);
  return found == nullptr ? "an unknown dtype" : found->name;
}

}  // namespace fake_aclnn
