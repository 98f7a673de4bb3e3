// The vendor's class: dl::kit::Runtime provides the table for the SDK's runtime, and the operators
// are generated from library/.
#ifndef VENDOR_H_
#define VENDOR_H_

#include <cstdio>
#include <string>

#include "dl/kit/cuda_shaped.h"
#include "dl/kit/library/direct.h"
#include "dl/kit/runtime.h"
#include "generated/functions.gen.h"
#include "sdk.h"

namespace __chip__ {

// Replace by the SDK's soname, as in "lib__chip__.so.1".
inline std::string sdk_library() { return dl::kit::own_folder() + "/lib__chip___sdk.so"; }

struct Runtime : dl::kit::Library {
  Runtime() : Library({sdk_library()}, "SDK of __chip__") {}
  DL_KIT_CUDA_SHAPED(DL_KIT_SYMBOL_AS, __chip__)
  DL_KIT_SYMBOL_AS(device_name, __chip__GetDeviceName);

  Result properties(int device, dl_device_properties_t* all) {
    size_t free_bytes = 0, total_bytes = 0;
    const Result failed = memory_info(&free_bytes, &total_bytes);
    all->total_memory = total_bytes;
    all->dtype_mask = uint64_t{1} << diopi_dtype_float32;
    return failed != SDK_SUCCESS ? failed : device_name(all->name, sizeof all->name, device);
  }
};

// Arguments of the library's functions, and the meaning of their results.
struct Objects {
  static constexpr const char* kName = "__chip__";
  using Tensor = __chip__Tensor_t;
  using Scalar = double;
  struct Ints {
    const int64_t* values;
    uint64_t count;
  };

  Tensor tensor(const dl::kit::library::View& x, int dtype, int) {
    return {x.data(), dtype, x.ndim, x.sizes, x.strides};
  }
  Scalar scalar(const diopiScalar_t& x, int) { return dl::kit::number_of<double>(&x); }
  Ints ints(const int64_t* values, uint64_t count) { return {values, count}; }
  void* handle(dl::kit::library::Call&) { return nullptr; }

  bool declines(int status) { return status == SDK_NOT_SUPPORTED; }
  dl_code_t code(int status) { return dl::kit::cuda_shaped_code(status); }
  std::string message(int status) { return "error " + std::to_string(status); }
};

struct Vendor : dl::kit::Runtime<Runtime> {
  static constexpr const char* kName = "__chip__";
  static constexpr const char* kVersion = VENDOR_VERSION;

  dl::kit::Operators operators();
  // For the generated operators.
  dl::kit::library::Backend& operator_library(diopiContextHandle_t) { return backend_; }

 private:
  dl::kit::library::LibrarySet libraries_{{sdk_library()}, {}, "install the SDK of __chip__"};
  Objects objects_;
  dl::kit::library::DirectBackend<Objects> backend_{kFacts, libraries_, objects_};
};

}  // namespace __chip__

#endif  // VENDOR_H_
