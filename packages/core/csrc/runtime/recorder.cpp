#include "runtime/recorder.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

#include "contract/dtype.h"
#include "contract/operators.gen.h"
#include "diopi/functions.h"
#include "diopi/functions_dl.h"
#include "diopi/functions_ext.h"
#include "diopi/functions_lmdeploy.h"
#include "diopi/functions_mmcv.h"
#include "diopi/functions_sparse.h"
#include "dl/handles.h"
#include "runtime/device.h"

namespace dl::core {
namespace {

struct Record {
  std::vector<Recorded> events;
  std::vector<std::string> opaque;
  bool placeholders;
};

thread_local std::unique_ptr<Record> record;

// C representation of an argument.
enum class ArgumentForm : uint8_t {
  kTensor,
  kTensors,  // array of tensors; the next int64 argument is its length
  kGenerator,
  kInt64,
  kInt32,
  kFloat,
  kDouble,
  kBool,
  kSize,
  kSizePointer,
  kInt64Pointer,
  kDoublePointer,
  kBoolPointer,
  kScalar,
  kString,
  kOther,
};

template <typename T>
constexpr ArgumentForm form_of() {
  if constexpr (std::is_same_v<T, diopiTensorHandle_t> ||
                std::is_same_v<T, diopiConstTensorHandle_t>) {
    return ArgumentForm::kTensor;
  } else if constexpr (std::is_same_v<T, diopiTensorHandle_t*> ||
                       std::is_same_v<T, diopiConstTensorHandle_t*>) {
    return ArgumentForm::kTensors;
  } else if constexpr (std::is_same_v<T, diopiGeneratorHandle_t>) {
    return ArgumentForm::kGenerator;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return ArgumentForm::kInt64;
  } else if constexpr (std::is_same_v<T, int32_t> || std::is_enum_v<T>) {
    static_assert(sizeof(T) == sizeof(int32_t));
    return ArgumentForm::kInt32;
  } else if constexpr (std::is_same_v<T, float>) {
    return ArgumentForm::kFloat;
  } else if constexpr (std::is_same_v<T, double>) {
    return ArgumentForm::kDouble;
  } else if constexpr (std::is_same_v<T, bool>) {
    return ArgumentForm::kBool;
  } else if constexpr (std::is_same_v<T, diopiSize_t>) {
    return ArgumentForm::kSize;
  } else if constexpr (std::is_same_v<T, diopiSize_t*>) {
    return ArgumentForm::kSizePointer;
  } else if constexpr (std::is_same_v<T, const int64_t*>) {
    return ArgumentForm::kInt64Pointer;
  } else if constexpr (std::is_same_v<T, const double*>) {
    return ArgumentForm::kDoublePointer;
  } else if constexpr (std::is_same_v<T, const bool*>) {
    return ArgumentForm::kBoolPointer;
  } else if constexpr (std::is_same_v<T, const diopiScalar_t*> ||
                       std::is_same_v<T, diopiScalar_t*>) {
    return ArgumentForm::kScalar;
  } else if constexpr (std::is_same_v<T, const char*>) {
    return ArgumentForm::kString;
  } else {
    return ArgumentForm::kOther;
  }
}

struct PassedArgument {
  ArgumentForm type;
  const void* value;
};

template <typename T>
const T& as(const PassedArgument& argument) {
  return *static_cast<const T*>(argument.value);
}

RecordedTensor read_tensor(const dl_tensor_prefix_t& prefix) {
  const auto ndim = static_cast<size_t>(prefix.ndim);
  return {reinterpret_cast<uintptr_t>(prefix.data),
          prefix.dtype,
          prefix.device != diopi_device,
          {prefix.sizes, prefix.sizes + ndim},
          {prefix.strides, prefix.strides + ndim}};
}

std::variant<std::monostate, RecordedTensor> read_handle(const void* handle) {
  if (handle == nullptr) return {};
  return read_tensor(*static_cast<const dl_tensor_prefix_t*>(handle));
}

std::vector<int64_t> read_size(const diopiSize_t& size) {
  return {size.data, size.data + size.len};
}

int64_t count_behind(const PassedArgument* from, const PassedArgument* end) {
  const auto* const found = std::find_if(
      from, end, [](const PassedArgument& each) { return each.type == ArgumentForm::kInt64; });
  return found == end ? 0 : as<int64_t>(*found);
}

RecordedValue read_pointer(const PassedArgument& argument) {
  const void* const pointer = as<const void*>(argument);
  if (pointer == nullptr) return {};
  switch (argument.type) {
    case ArgumentForm::kSizePointer:
      return read_size(*static_cast<const diopiSize_t*>(pointer));
    case ArgumentForm::kInt64Pointer:
      return *static_cast<const int64_t*>(pointer);
    case ArgumentForm::kDoublePointer:
      return *static_cast<const double*>(pointer);
    case ArgumentForm::kBoolPointer:
      return *static_cast<const bool*>(pointer);
    case ArgumentForm::kString:
      return std::string(static_cast<const char*>(pointer));
    case ArgumentForm::kGenerator:
      return RecordedGenerator{};
    case ArgumentForm::kTensor:
      return read_tensor(*static_cast<const dl_tensor_prefix_t*>(pointer));
    default: {
      const auto& scalar = *static_cast<const diopiScalar_t*>(pointer);
      if (c10::isFloatingType(from_diopi(scalar.stype)))
        return RecordedScalar{scalar.stype, scalar.fval};
      return RecordedScalar{scalar.stype, scalar.ival};
    }
  }
}

RecordedValue read_argument(const PassedArgument* argument, const PassedArgument* end) {
  switch (argument->type) {
    case ArgumentForm::kTensors: {
      std::vector<std::variant<std::monostate, RecordedTensor>> list;
      const void* const* handles = as<const void* const*>(*argument);
      if (handles == nullptr) return {};
      const int64_t count = count_behind(argument + 1, end);
      for (int64_t i = 0; i < count; ++i) list.push_back(read_handle(handles[i]));
      return list;
    }
    case ArgumentForm::kInt64:
      return as<int64_t>(*argument);
    case ArgumentForm::kInt32:
      return static_cast<int64_t>(as<int32_t>(*argument));
    case ArgumentForm::kFloat:
      return static_cast<double>(as<float>(*argument));
    case ArgumentForm::kDouble:
      return as<double>(*argument);
    case ArgumentForm::kBool:
      return as<bool>(*argument);
    case ArgumentForm::kSize: {
      const auto& size = as<diopiSize_t>(*argument);
      if (size.data == nullptr && size.len == 0) return {};
      return read_size(size);
    }
    case ArgumentForm::kOther:
      return {};
    default:
      return read_pointer(*argument);
  }
}

void record_call(const char* contract_name, const PassedArgument* arguments, size_t count) {
  Recorded made{contract_name, true, {}};
  if (std::find(record->opaque.begin(), record->opaque.end(), made.name) == record->opaque.end()) {
    for (size_t i = 0; i < count; ++i)
      made.arguments.push_back(read_argument(arguments + i, arguments + count));
  }
  record->events.push_back(std::move(made));
}

dl_function_t own_function(diopiContextHandle_t context, Op op) {
  const dl_vendor_t* const instance = reinterpret_cast<const dl_context_prefix_t*>(context)->vendor;
  for (int i = 0; i < device_count(); ++i) {
    const Vendor& vendor = *device_unchecked(i).vendor;
    if (vendor.instance() == instance) return vendor.own_function(op);
  }
  return nullptr;
}

// Calls the vendor's own function and records the call.
template <Op kOp, typename Function>
struct RecordingCall;
template <Op kOp, typename... Args>
struct RecordingCall<kOp, diopiError_t(diopiContextHandle_t, Args...)> {
  static diopiError_t call(diopiContextHandle_t context, Args... args) {
    const auto function = reinterpret_cast<diopiError_t (*)(diopiContextHandle_t, Args...)>(
        own_function(context, kOp));
    if (function == nullptr) return diopiNoImplement;
    const diopiError_t code = function(context, args...);
    if (code != diopiSuccess || record == nullptr) return code;
    try {
      const std::array<PassedArgument, sizeof...(Args)> list = {{{form_of<Args>(), &args}...}};
      record_call(kOpNames[static_cast<size_t>(kOp)], list.data(), list.size());
    } catch (const std::bad_alloc&) {
      return diopiErrorOccurred;
    }
    return code;
  }
};

const dl_function_t* telling_functions() {
  static const auto functions = [] {
    std::array<dl_function_t, kOpCount> made{};
#define DL_TELLING(op)                \
  made[static_cast<size_t>(Op::op)] = \
      reinterpret_cast<dl_function_t>(&RecordingCall<Op::op, decltype(::op)>::call);
    DIOPI_EACH_OPERATOR(DL_TELLING)
#undef DL_TELLING
    return made;
  }();
  return functions.data();
}

// Guards the replacement of functions.
std::mutex standing_in;

void count_thread(int change) {
  const std::lock_guard<std::mutex> guard(standing_in);
  const int before = recording_threads.fetch_add(change);
  if (before != 0 && before + change != 0) return;
  for (int i = 0; i < device_count(); ++i)
    device_unchecked(i).vendor->stand_in(change > 0 ? telling_functions() : nullptr);
}

}  // namespace

void record_event(const char* what) {
  if (record != nullptr) record->events.push_back({what, false, {}});
}

void record_copy(dl_copy_kind_t kind, const void* to, const void* from, size_t bytes) {
  if (record == nullptr) return;
  if (kind != DL_COPY_DEVICE_TO_DEVICE)
    return record_event(kind == DL_COPY_HOST_TO_DEVICE ? "copy from host" : "copy to host");
  const std::vector<int64_t> sizes{static_cast<int64_t>(bytes)};
  const auto block = [&](const void* memory) {
    return RecordedTensor{
        reinterpret_cast<uintptr_t>(memory), diopi_dtype_uint8, false, sizes, {1}};
  };
  record->events.push_back({"copy", false, {block(to), block(from)}});
}

void start_recording(std::vector<std::string> opaque, bool placeholders) {
  TORCH_CHECK(record == nullptr, "[dl] this thread is already recording");
  record = std::make_unique<Record>(Record{{}, std::move(opaque), placeholders});
  count_thread(1);
}

bool records_placeholders() { return is_recorded() && record != nullptr && record->placeholders; }

std::vector<Recorded> take_recorded() {
  TORCH_CHECK(record != nullptr, "[dl] this thread is not recording");
  return std::exchange(record->events, {});
}

void end_recording() {
  if (record == nullptr) return;
  record.reset();
  count_thread(-1);
}

}  // namespace dl::core
