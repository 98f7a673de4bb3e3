#include "operators/helpers.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "dl/kit/library/random.h"
#include "operators/cnnl.h"

namespace dl::cambricon {
namespace {

const char* cnnl_dtype(int32_t dtype) {
  switch (dtype) {
    case diopi_dtype_float16:
      return "HALF";
    case diopi_dtype_bfloat16:
      return "BFLOAT16";
    case diopi_dtype_float32:
      return "FLOAT";
    case diopi_dtype_float64:
      return "DOUBLE";
    case diopi_dtype_int8:
      return "INT8";
    case diopi_dtype_uint8:
      return "UINT8";
    case diopi_dtype_int16:
      return "INT16";
    case diopi_dtype_int32:
      return "INT32";
    case diopi_dtype_int64:
      return "INT64";
    case diopi_dtype_bool:
      return "BOOL";
    default:
      lib::refuse(std::string("CNNL has no dtype ") + lib::dtype_name(dtype));
  }
}

}  // namespace

int64_t value(const char* name) { return the_cnnl().value(name); }

int64_t cast(const lib::View& from, const lib::View& to) {
  return value(
      (std::string("CNNL_CAST_") + cnnl_dtype(from.dtype) + "_TO_" + cnnl_dtype(to.dtype)).c_str());
}

lib::Scalar factor(double number, const lib::View& like) {
  lib::Scalar made = lib::scalar_of(number);
  if (lib::is_floating(like)) {
    made.value.stype = diopi_dtype_float32;
    return made;
  }
  if (number != std::trunc(number)) lib::refuse("a fraction for a tensor of integers");
  made = lib::scalar_of(static_cast<int64_t>(number));
  made.value.stype = diopi_dtype_int32;
  return made;
}

lib::View constant(lib::Call& call, const lib::Scalar& number, const lib::View& like) {
  const double value = lib::number(number);
  if (lib::is_integral(like)) {
    unsigned char room[sizeof(int64_t)] = {};
    lib::store(room, 0, like.dtype, value);
    if (static_cast<double>(lib::load_integer(room, 0, like.dtype)) != value)
      lib::refuse("a number that the dtype of a tensor cannot represent");
  }
  return lib::filled(call, lib::dtype(like), {1}, value);
}

int64_t nll_reduction(int64_t reduction) {
  switch (reduction) {
    case ReductionNone:
      return value("CNNL_REDUCTION_NONE");
    case ReductionMean:
      return value("CNNL_REDUCTION_MEAN");
    case ReductionSum:
      return value("CNNL_REDUCTION_SUM");
    default:
      lib::refuse("an unknown reduction");
  }
}

lib::Views unsqueezed(const lib::Views& tensors, int64_t dim) {
  lib::Views made;
  for (const lib::View& each : tensors) made.push_back(lib::unsqueeze(each, dim));
  return made;
}

lib::Views nonempty(const lib::Views& tensors) {
  lib::Views made;
  for (const lib::View& each : tensors) {
    if (each.numel() != 0) made.push_back(each);
  }
  return made;
}

int64_t position(int64_t dim, const lib::View& x) { return lib::dimension(x, dim); }

bool one_dtype(const lib::Views& tensors, const lib::View& like) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [&](const lib::View& each) { return each.dtype == like.dtype; });
}

lib::Scalar element(const lib::Scalar& number, const lib::View& like) {
  lib::Scalar made = lib::scalar_of(lib::number(number));
  if (like.dtype == diopi_dtype_bool) {
    made = lib::scalar_of(int64_t{lib::number(number) != 0.0});
  } else if (lib::is_integral(like)) {
    made = lib::scalar_of(lib::integer(number));
  }
  made.value.stype = static_cast<diopiDtype_t>(like.dtype);
  return made;
}

lib::View nhwc(const lib::View& x) {
  lib::View view = x;
  if (x.ndim < 2 || x.ndim > 5) lib::refuse("images have two to five dimensions");
  while (view.ndim < 4) view = lib::unsqueeze(view, 2);
  if (view.ndim == 5) view = lib::merged(view, 2, 4);
  view = lib::moved_to_last(view, 1);
  view.format = static_cast<int32_t>(value("CNNL_LAYOUT_NHWC"));
  return view;
}

lib::View around(const lib::View& x, int64_t dim) {
  if (x.ndim == 0) return lib::reshaped(x, {1, 1, 1});
  const int32_t at = lib::dimension(x, dim);
  lib::View view = at + 1 < x.ndim ? lib::merged(x, at + 1, x.ndim) : lib::unsqueeze(x, x.ndim);
  return at > 0 ? lib::merged(view, 0, at) : lib::unsqueeze(view, 0);
}

lib::View kept(const lib::View& out, const lib::View& x, const lib::Ints& dims) {
  lib::View view = out;
  if (out.ndim == x.ndim) return view;
  view.ndim = x.ndim;
  bool reduced[lib::kMaxDims] = {};
  for (const int64_t dim : dims) reduced[lib::dimension(x, dim)] = true;
  int32_t from = 0;
  for (int32_t d = 0; d < x.ndim; ++d) {
    const bool is_reduced = dims.empty() || reduced[d];
    if (!is_reduced && from >= out.ndim) lib::refuse("an output has too few dimensions");
    view.sizes[d] = is_reduced ? 1 : out.sizes[from];
    view.strides[d] = is_reduced ? 1 : out.strides[from];
    if (!is_reduced) ++from;
  }
  if (from != out.ndim) lib::refuse("an output has too many dimensions");
  return view;
}

lib::View leading(const lib::View& x, int64_t count) {
  lib::View view = x;
  while (view.ndim > std::max<int64_t>(count, 1)) view = lib::squeeze(view, -1);
  return view;
}

lib::View factor_of_product(const lib::View& x) {
  return !x.is_contiguous() && x.ndim >= 2 && lib::t(x).is_contiguous() ? lib::t(x) : x;
}

}  // namespace dl::cambricon
