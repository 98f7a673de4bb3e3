// Driver API: error names and texts, and lookup of functions.

#include <dlfcn.h>

#include <cstring>
#include <mutex>
#include <string>

#include "state.h"

using namespace sim;

namespace {

CUresult described(CUresult error, const char** text, bool name) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (static_cast<int>(error)) {
#define X(symbol, number, said)    \
  case number:                     \
    *text = name ? #symbol : said; \
    return CUDA_SUCCESS;
#include "errors.inc"
#undef X
    default:
      *text = nullptr;
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

DL_EXPORT CUresult CUDAAPI cuGetErrorName(CUresult error, const char** text) {
  return described(error, text, true);
}

DL_EXPORT CUresult CUDAAPI cuGetErrorString(CUresult error, const char** text) {
  return described(error, text, false);
}

DL_EXPORT CUresult CUDAAPI cuGetProcAddress_v2(const char* symbol, void** function, int, cuuint64_t,
                                               CUdriverProcAddressQueryResult* status) {
  if (symbol == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  // Open this library by its path: another library of the same name may be loaded.
  Dl_info self{};
  dladdr(reinterpret_cast<void*>(&cuGetErrorName), &self);
  void* library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  *function = nullptr;
  for (const char* suffix : {"_v3", "_v2", ""}) {
    if (*function != nullptr || library == nullptr) break;
    *function = dlsym(library, (std::string(symbol) + suffix).c_str());
  }
  if (library != nullptr) dlclose(library);
  if (status != nullptr)
    *status =
        *function != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

DL_EXPORT CUresult CUDAAPI cuGetExportTable(const void** table, const CUuuid*) {
  DL_COUNTED("cuGetExportTable");
  if (const CUresult failed = Journal::get().call(counted_name)) return failed;
  if (table == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *table = nullptr;
  // NVRTC asks any loaded driver, and does not need an answer.
  Dl_info caller{};
  dladdr(__builtin_return_address(0), &caller);
  if (caller.dli_fname != nullptr && std::strstr(caller.dli_fname, "libnvrtc") != nullptr)
    return CUDA_ERROR_NOT_FOUND;
  static std::once_flag once;
  std::call_once(once, [] {
    Journal::get().say(
        "the program requests an undocumented driver table, as does NVIDIA's runtime library "
        "(cudart) in every program that links it: such programs are not supported; use programs "
        "that call only the driver, as do dl-vendor-cuda, Triton and users of NVRTC");
  });
  return CUDA_ERROR_NOT_FOUND;
}
