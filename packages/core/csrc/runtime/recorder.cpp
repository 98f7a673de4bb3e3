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
  bool made_up;
};

thread_local std::unique_ptr<Record> record;

// How an argument is passed in C.
enum class Passed : uint8_t {
  kTensor,
  kTensors,  // counted by the next integer of 64 bits
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
constexpr Passed passed() {
  if constexpr (std::is_same_v<T, diopiTensorHandle_t> ||
                std::is_same_v<T, diopiConstTensorHandle_t>) {
    return Passed::kTensor;
  } else if constexpr (std::is_same_v<T, diopiTensorHandle_t*> ||
                       std::is_same_v<T, diopiConstTensorHandle_t*>) {
    return Passed::kTensors;
  } else if constexpr (std::is_same_v<T, diopiGeneratorHandle_t>) {
    return Passed::kGenerator;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return Passed::kInt64;
  } else if constexpr (std::is_same_v<T, int32_t> || std::is_enum_v<T>) {
    static_assert(sizeof(T) == sizeof(int32_t));
    return Passed::kInt32;
  } else if constexpr (std::is_same_v<T, float>) {
    return Passed::kFloat;
  } else if constexpr (std::is_same_v<T, double>) {
    return Passed::kDouble;
  } else if constexpr (std::is_same_v<T, bool>) {
    return Passed::kBool;
  } else if constexpr (std::is_same_v<T, diopiSize_t>) {
    return Passed::kSize;
  } else if constexpr (std::is_same_v<T, diopiSize_t*>) {
    return Passed::kSizePointer;
  } else if constexpr (std::is_same_v<T, const int64_t*>) {
    return Passed::kInt64Pointer;
  } else if constexpr (std::is_same_v<T, const double*>) {
    return Passed::kDoublePointer;
  } else if constexpr (std::is_same_v<T, const bool*>) {
    return Passed::kBoolPointer;
  } else if constexpr (std::is_same_v<T, const diopiScalar_t*> ||
                       std::is_same_v<T, diopiScalar_t*>) {
    return Passed::kScalar;
  } else if constexpr (std::is_same_v<T, const char*>) {
    return Passed::kString;
  } else {
    return Passed::kOther;
  }
}

struct PassedArgument {
  Passed type;
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
      from, end, [](const PassedArgument& each) { return each.type == Passed::kInt64; });
  return found == end ? 0 : as<int64_t>(*found);
}

RecordedValue read_pointer(const PassedArgument& argument) {
  const void* const pointer = as<const void*>(argument);
  if (pointer == nullptr) return {};
  switch (argument.type) {
    case Passed::kSizePointer:
      return read_size(*static_cast<const diopiSize_t*>(pointer));
    case Passed::kInt64Pointer:
      return *static_cast<const int64_t*>(pointer);
    case Passed::kDoublePointer:
      return *static_cast<const double*>(pointer);
    case Passed::kBoolPointer:
      return *static_cast<const bool*>(pointer);
    case Passed::kString:
      return std::string(static_cast<const char*>(pointer));
    case Passed::kGenerator:
      return RecordedGenerator{};
    case Passed::kTensor:
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
    case Passed::kTensors: {
      std::vector<std::variant<std::monostate, RecordedTensor>> list;
      const void* const* handles = as<const void* const*>(*argument);
      if (handles == nullptr) return {};
      const int64_t count = count_behind(argument + 1, end);
      for (int64_t i = 0; i < count; ++i) list.push_back(read_handle(handles[i]));
      return list;
    }
    case Passed::kInt64:
      return as<int64_t>(*argument);
    case Passed::kInt32:
      return static_cast<int64_t>(as<int32_t>(*argument));
    case Passed::kFloat:
      return static_cast<double>(as<float>(*argument));
    case Passed::kDouble:
      return as<double>(*argument);
    case Passed::kBool:
      return as<bool>(*argument);
    case Passed::kSize: {
      const auto& size = as<diopiSize_t>(*argument);
      if (size.data == nullptr && size.len == 0) return {};
      return read_size(size);
    }
    case Passed::kOther:
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

// Calls the vendor's own function, and tells of it.
template <Op kOp, typename Function>
struct Telling;
template <Op kOp, typename... Args>
struct Telling<kOp, diopiError_t(diopiContextHandle_t, Args...)> {
  static diopiError_t call(diopiContextHandle_t context, Args... args) {
    const auto function = reinterpret_cast<diopiError_t (*)(diopiContextHandle_t, Args...)>(
        own_function(context, kOp));
    if (function == nullptr) return diopiNoImplement;
    const diopiError_t code = function(context, args...);
    if (code != diopiSuccess || record == nullptr) return code;
    try {
      const std::array<PassedArgument, sizeof...(Args)> list = {{{passed<Args>(), &args}...}};
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
      reinterpret_cast<dl_function_t>(&Telling<Op::op, decltype(::op)>::call);
    DIOPI_EACH_OPERATOR(DL_TELLING)
#undef DL_TELLING
    return made;
  }();
  return functions.data();
}

// Held while functions are put in or taken out.
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

void start_recording(std::vector<std::string> opaque, bool made_up) {
  TORCH_CHECK(record == nullptr, "[dl] this thread records already");
  record = std::make_unique<Record>(Record{{}, std::move(opaque), made_up});
  count_thread(1);
}

bool records_made_up_values() { return is_recorded() && record != nullptr && record->made_up; }

std::vector<Recorded> take_recorded() {
  TORCH_CHECK(record != nullptr, "[dl] this thread does not record");
  return std::exchange(record->events, {});
}

void end_recording() {
  if (record == nullptr) return;
  record.reset();
  count_thread(-1);
}

}  // namespace dl::core
