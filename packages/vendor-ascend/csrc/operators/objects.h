// The objects that aclnn functions take: tensors, scalars, arrays and executors of libnnopbase.
#ifndef DL_ASCEND_OPERATORS_OBJECTS_H_
#define DL_ASCEND_OPERATORS_OBJECTS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dl/kit/library/symbols.h"
#include "dl/kit/library/values.h"
#include "dl/kit/status.h"

struct aclTensor;
struct aclTensorList;
struct aclScalar;
struct aclIntArray;
struct aclBoolArray;
struct aclFloatArray;
struct aclOpExecutor;

namespace dl::ascend {

class Objects {
 public:
  static constexpr const char* kName = "aclnn";

  // `recent_error` returns the text of the runtime's last failure on this thread, or an empty text.
  Objects(dl::kit::library::LibrarySet& libraries, std::function<std::string()> recent_error)
      : libraries_(libraries), recent_error_(std::move(recent_error)) {}

  void* create_tensor(const int64_t* sizes, int64_t ndim, int dtype, const int64_t* strides,
                      int64_t offset, int format, int64_t storage_elements, void* base) {
    using Function = aclTensor* (*)(const int64_t*, uint64_t, int, const int64_t*, int64_t, int,
                                    const int64_t*, uint64_t, void*);
    return get<Function>(kCreateTensor, "aclCreateTensor")(sizes, static_cast<uint64_t>(ndim),
                                                           dtype, strides, offset, format,
                                                           &storage_elements, 1, base);
  }
  void* create_scalar(const void* value, int dtype) {
    return get<aclScalar* (*)(void*, int)>(kCreateScalar, "aclCreateScalar")(
        const_cast<void*>(value), dtype);
  }
  void* create_ints(const int64_t* values, uint64_t count) {
    return get<aclIntArray* (*)(const int64_t*, uint64_t)>(kCreateInts, "aclCreateIntArray")(values,
                                                                                             count);
  }
  void* create_bools(const bool* values, uint64_t count) {
    return get<aclBoolArray* (*)(const bool*, uint64_t)>(kCreateBools, "aclCreateBoolArray")(values,
                                                                                             count);
  }
  void* create_doubles(const double* values, uint64_t count) {
    const std::vector<float> floats(values, values + count);
    return get<aclFloatArray* (*)(const float*, uint64_t)>(kCreateFloats, "aclCreateFloatArray")(
        floats.data(), count);
  }
  void* create_list(void* const* tensors, uint64_t count) {
    return get<aclTensorList* (*)(const aclTensor* const*, uint64_t)>(
        kCreateList, "aclCreateTensorList")(reinterpret_cast<const aclTensor* const*>(tensors),
                                            count);
  }

  void destroy_tensor(void* x) { destroy<aclTensor>(kDestroyTensor, "aclDestroyTensor", x); }
  void destroy_scalar(void* x) { destroy<aclScalar>(kDestroyScalar, "aclDestroyScalar", x); }
  void destroy_ints(void* x) { destroy<aclIntArray>(kDestroyInts, "aclDestroyIntArray", x); }
  void destroy_bools(void* x) { destroy<aclBoolArray>(kDestroyBools, "aclDestroyBoolArray", x); }
  void destroy_doubles(void* x) {
    destroy<aclFloatArray>(kDestroyFloats, "aclDestroyFloatArray", x);
  }
  void destroy_list(void* x) { destroy<aclTensorList>(kDestroyList, "aclDestroyTensorList", x); }
  void destroy_executor(void* x) {
    get<int (*)(aclOpExecutor*)>(kDestroyExecutor,
                                 "aclDestroyAclOpExecutor")(static_cast<aclOpExecutor*>(x));
  }

  bool make_repeatable(void* executor) {
    using Function = int (*)(aclOpExecutor*);
    const Function function = find<Function>(kRepeatable, "aclSetAclOpExecutorRepeatable");
    if (function == nullptr) return false;
    if (function(static_cast<aclOpExecutor*>(executor)) == 0) return true;
    recent_error_();  // a later call must not report this refusal
    return false;
  }
  bool set_input(void* executor, uint64_t index, void* tensor, void* base) {
    return set(kSetInput, "aclSetInputTensorAddr", executor, index, tensor, base);
  }
  bool set_output(void* executor, uint64_t index, void* tensor, void* base) {
    return set(kSetOutput, "aclSetOutputTensorAddr", executor, index, tensor, base);
  }

  // 161002: the arguments are not supported; 561003: no kernel for them.
  bool declines(int status) { return status == 161002 || status == 561003; }
  dl_code_t code(int status) {
    switch (status) {
      case 207001:
      case 207018:
      case 200000:
        return DL_OUT_OF_MEMORY;
      case 161001:
      case 161002:
        return DL_INVALID_ARGUMENT;
      default:
        return DL_ERROR;
    }
  }
  std::string message(int status) {
    const std::string text = recent_error_();
    if (status == 0) return text.empty() ? "no reason is given" : text;
    return "status " + std::to_string(status) + (text.empty() ? "" : ": " + text);
  }

  bool read_shape(void* tensor, dl::kit::library::Ints* sizes) {
    int64_t* values = nullptr;
    uint64_t count = 0;
    const int status = get<int (*)(const aclTensor*, int64_t**, uint64_t*)>(
        kViewShape, "aclGetViewShape")(static_cast<aclTensor*>(tensor), &values, &count);
    const std::unique_ptr<int64_t[]> owned(values);  // allocated by the library with new[]
    if (status != 0 || values == nullptr) return false;
    sizes->assign(values, values + count);
    return true;
  }

 private:
  enum Index {
    kCreateTensor,
    kCreateScalar,
    kCreateInts,
    kCreateBools,
    kCreateFloats,
    kCreateList,
    kDestroyTensor,
    kDestroyScalar,
    kDestroyInts,
    kDestroyBools,
    kDestroyFloats,
    kDestroyList,
    kDestroyExecutor,
    kRepeatable,
    kSetInput,
    kSetOutput,
    kViewShape,
    kCount
  };

  template <class Function>
  Function find(Index index, const char* name) {
    void* found = addresses_[index].load(std::memory_order_acquire);
    if (found == nullptr) {
      found = libraries_.find(name);
      addresses_[index].store(found, std::memory_order_release);
    }
    return reinterpret_cast<Function>(found);
  }
  template <class Function>
  Function get(Index index, const char* name) {
    const Function function = find<Function>(index, name);
    if (function == nullptr)
      throw dl::kit::Error(DL_UNAVAILABLE,
                           std::string("CANN's operator library has no function ") + name +
                               "; install CANN 8.1 or newer",
                           "dlsym");
    return function;
  }
  template <class T>
  void destroy(Index index, const char* name, void* object) {
    get<int (*)(const T*)>(index, name)(static_cast<T*>(object));
  }
  bool set(Index index, const char* name, void* executor, uint64_t position, void* tensor,
           void* base) {
    using Function = int (*)(aclOpExecutor*, size_t, aclTensor*, void*);
    const Function function = find<Function>(index, name);
    return function != nullptr && function(static_cast<aclOpExecutor*>(executor), position,
                                           static_cast<aclTensor*>(tensor), base) == 0;
  }

  dl::kit::library::LibrarySet& libraries_;
  const std::function<std::string()> recent_error_;
  std::atomic<void*> addresses_[kCount] = {};
};

}  // namespace dl::ascend

#endif  // DL_ASCEND_OPERATORS_OBJECTS_H_
