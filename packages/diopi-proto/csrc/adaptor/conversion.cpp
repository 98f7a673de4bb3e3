#include "adaptor/conversion.h"

#include "adaptor/elements.h"
#include "adaptor/failure.h"
#include "adaptor/layout.h"
#include "adaptor/staging.h"
#include "diopi/diopirt.h"

namespace dl::adaptor {
namespace {

const dl_tensor_prefix_t& prefix(diopiConstTensorHandle_t handle) {
  return *reinterpret_cast<const dl_tensor_prefix_t*>(handle);
}

bool is_integer(int32_t dtype) { return dtype <= diopi_dtype_uint64; }

diopiError_t call(Cast function, diopiContextHandle_t ctx, diopiTensorHandle_t out,
                  diopiConstTensorHandle_t in) {
  return function(ctx, out, in);
}

diopiError_t call(Copy function, diopiContextHandle_t ctx, diopiConstTensorHandle_t in,
                  diopiTensorHandle_t out) {
  return function(ctx, in, out);
}

}  // namespace

const dl_tensor_prefix_t* adaptable(diopiConstTensorHandle_t handle) {
  const dl_tensor_prefix_t* tensor = diopirt_tensor(handle);
  constexpr uint32_t kOthers = DL_TENSOR_SPARSE_CSR | DL_TENSOR_PRIVATE_FORMAT;
  return tensor == nullptr || (tensor->flags & kOthers) != 0 ? nullptr : tensor;
}

std::string dtype_name(int32_t dtype) {
  static constexpr const char* kNames[] = {
      "int8",     "uint8",    "int16",     "uint16",    "int32",     "uint32",
      "int64",    "uint64",   "float16",   "float32",   "float64",   "bool",
      "bfloat16", "tfloat32", "complex32", "complex64", "complex128"};
  constexpr int32_t kCount = sizeof kNames / sizeof kNames[0];
  return dtype >= 0 && dtype < kCount ? kNames[dtype] : "dtype " + std::to_string(dtype);
}

diopiTensorHandle_t Conversion::make(const dl_tensor_prefix_t& like, int32_t dtype,
                                     bool channels_last) const {
  const diopiSize_t sizes = {like.sizes, like.ndim};
  const std::vector<int64_t> steps = dense_strides(like, channels_last);
  const diopiSize_t strides = {steps.data(), like.ndim};
  diopiTensorHandle_t made = nullptr;
  const diopiError_t code =
      diopiRequireTensor(ctx, &made, &sizes, channels_last ? &strides : nullptr,
                         static_cast<diopiDtype_t>(dtype), static_cast<diopiDevice_t>(like.device));
  if (code != diopiSuccess || diopirt_tensor(made) == nullptr)
    throw Failure("the host could not allocate a tensor of " + dtype_name(dtype) +
                  " for the adaptor's conversion");
  return made;
}

// Returns true if values must be checked on the host, which waits for the stream. (The vendor's own
// check does not wait, but its message does not name the operator or the parameter.)
bool Conversion::checked_here(int32_t from, int32_t to) const {
  if (!narrows(from, to)) return false;
  // A floating-point result beyond the range becomes infinite, as if the operator had computed it
  // in that dtype. Integers have no infinity.
  return !result || (is_integer(from) && (rule.is.flags & DL_ADAPTOR_WRAP) == 0);
}

void Conversion::run(diopiConstTensorHandle_t from_handle, diopiTensorHandle_t to_handle) const {
  const dl_tensor_prefix_t& from = prefix(from_handle);
  const dl_tensor_prefix_t& to = prefix(to_handle);
  bool on_host = false;
  if (from.numel != 0) {
    const bool on_device = from.device == diopi_device;
    const bool checks = checked_here(from.dtype, to.dtype);
    const bool trusted = on_device && (rule.is.flags & DL_ADAPTOR_VENDOR) != 0;
    std::unique_ptr<Staged> read;
    const auto stage_and_check = [&] {
      if (read == nullptr) read = std::make_unique<Staged>(adaptor.checked(), ctx, from);
      if (!checks) return;
      const std::string unfit = first_unfit(read->elements(), to.dtype);
      if (!unfit.empty())
        throw Failure("the value " + unfit + " does not fit " + dtype_name(to.dtype) +
                      (result ? ", the dtype that the host expects of this result"
                              : ", to which the adaptor casts " + dtype_name(from.dtype)));
    };
    if (checks && !trusted) stage_and_check();
    on_host = !on_device || !by_vendor(from_handle, to_handle);
    if (on_host) {
      if (!convertible(from.dtype, to.dtype))
        throw Failure("neither the vendor's diopiCastDtype nor the host can cast " +
                      dtype_name(from.dtype) + " to " + dtype_name(to.dtype));
      stage_and_check();
      Staged written(adaptor.checked(), ctx, to);
      convert(read->elements(), written.elements());
      written.write_back();
    }
  }
  // A cast may change the strides too; only formats that the rule requires are counted.
  const bool laid_out = rule.is.layout != DL_FORMAT_STRIDED;
  adaptor.count(rule, from.dtype, to.dtype, laid_out ? format_of(from) : DL_FORMAT_STRIDED,
                laid_out ? format_of(to) : DL_FORMAT_STRIDED, result, on_host);
}

bool Conversion::by_vendor(diopiConstTensorHandle_t from, diopiTensorHandle_t to) const {
  if (prefix(from).dtype == prefix(to).dtype)
    return called(adaptor.copy(), "diopiCopyInp", to, from);
  if (called(adaptor.cast(), "diopiCastDtype", to, from)) return true;
  if (format_of(prefix(from)) == format_of(prefix(to))) return false;
  // Otherwise cast without changing the format, then copy without changing the dtype.
  if (adaptor.cast() == nullptr || adaptor.copy() == nullptr) return false;
  const bool channels_last = format_of(prefix(from)) == DL_FORMAT_CHANNELS_LAST;
  const diopiTensorHandle_t between = make(prefix(from), prefix(to).dtype, channels_last);
  return called(adaptor.cast(), "diopiCastDtype", between, from) &&
         called(adaptor.copy(), "diopiCopyInp", to, between);
}

// Returns false if the vendor does not have the function or declines the call without writing.
template <typename Function>
bool Conversion::called(Function function, const char* name, diopiTensorHandle_t out,
                        diopiConstTensorHandle_t in) const {
  if (function == nullptr) return false;
  diopiError_t code;
  if constexpr (std::is_same_v<Function, Cast>) {
    code = call(function, ctx, out, in);
  } else {
    code = call(function, ctx, in, out);
  }
  if (code == diopiSuccess) return true;
  if (declines(code)) return false;
  const auto reason = adaptor.checked()->table->last_error;
  const char* said = reason == nullptr ? nullptr : reason(adaptor.checked());
  throw Failure(std::string(name) + " of the vendor, which the adaptor calls to convert " +
                dtype_name(prefix(in).dtype) + " to " + dtype_name(prefix(out).dtype) +
                ", failed with code " + std::to_string(static_cast<int>(code)) + ": " +
                (said == nullptr || *said == '\0' ? "no reason given" : said));
}

}  // namespace dl::adaptor
