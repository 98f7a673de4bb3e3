#include "dtype_rules.h"

#include <string>

#include "concrete.h"
#include "diopi/types.gen.h"
#include "failure.h"

namespace dl::graph {
namespace {

bool is_half(int32_t dtype) {
  return dtype == diopi_dtype_float16 || dtype == diopi_dtype_bfloat16;
}

bool is_complex(int32_t dtype) { return dtype >= diopi_dtype_complex32; }

bool is_float(int32_t dtype) {
  return is_half(dtype) || dtype == diopi_dtype_float32 || dtype == diopi_dtype_float64 ||
         dtype == diopi_dtype_tfloat32;
}

int32_t real_of(int32_t dtype) {
  switch (dtype) {
    case diopi_dtype_complex32:
      return diopi_dtype_float16;
    case diopi_dtype_complex64:
      return diopi_dtype_float32;
    case diopi_dtype_complex128:
      return diopi_dtype_float64;
    default:
      return dtype;
  }
}

int32_t complex_of(int32_t dtype) {
  switch (dtype) {
    case diopi_dtype_float16:
      return diopi_dtype_complex32;
    case diopi_dtype_float32:
      return diopi_dtype_complex64;
    case diopi_dtype_float64:
      return diopi_dtype_complex128;
    default:
      return dtype;
  }
}

// Returns the dtype of the parameter at an index; -1 if it is absent or not a tensor.
int32_t dtype_at(const Entry& entry, const Call& call, int16_t place) {
  if (place < 0) return -1;
  const Type type = call.called->parameter(static_cast<size_t>(place)).type;
  if (type != Type::kTensor && type != Type::kTensors) return -1;
  for (const int64_t value : call.arguments[static_cast<size_t>(place)].places)
    if (value >= 0) return entry.values[static_cast<size_t>(value)].dtype;
  return -1;
}

// Returns the only dtype that the rule allows; -1 if it allows several.
int32_t demanded(const Entry& entry, const Call& call, const Parameter& parameter) {
  const int32_t of = dtype_at(entry, call, parameter.of);
  if (of < 0) return -1;
  switch (parameter.rule) {
    case Rule::kAmong:
      return -1;
    case Rule::kLike:
      return of;
    case Rule::kFloatOf:
      return is_float(of) || is_complex(of) ? of : diopi_dtype_float32;
    case Rule::kRealOf:
      return real_of(of);
    case Rule::kComplexOf:
      return complex_of(of);
    case Rule::kAccumulate:
      return is_half(of) ? diopi_dtype_float32 : of;
    case Rule::kPromote:
      // The promotion of different dtypes also depends on the dimensions; the operator checks it.
      return of == dtype_at(entry, call, parameter.other) ? of : -1;
  }
  return -1;
}

}  // namespace

void check_dtypes(const Entry& entry, const Call& call) {
  each_tensor(call, [&](size_t, const Parameter& parameter, size_t value) {
    const View& view = entry.values[value];
    const int32_t wanted = demanded(entry, call, parameter);
    if (wanted >= 0 && view.dtype != wanted)
      throw Failure(std::string(parameter.name) + " is " + dtype_text(view.dtype) + " (value " +
                    view.name + "), but has to be " + dtype_text(wanted));
    if ((parameter.dtypes >> view.dtype & 1) == 0)
      throw Failure(std::string(parameter.name) + " is " + dtype_text(view.dtype) + " (value " +
                    view.name + "), which the operator does not support");
  });
}

}  // namespace dl::graph
