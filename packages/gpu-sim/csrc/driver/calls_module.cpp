// Driver API: modules, libraries, functions and their attributes.

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "../ptx/lexer.h"
#include "../ptx/parser.h"
#include "launching.h"

using namespace sim;

namespace {

/** Return the target of PTX as a number: 80 for sm_80, 90 for sm_90a. */
int target_of(const Module& module) {
  const std::string text(module.target);
  return text.rfind("sm_", 0) == 0 ? std::atoi(text.c_str() + 3) : 0;
}

/** Parse an image. Errors go to the report, and to the caller's log buffer. */
CUresult read(const void* image, std::shared_ptr<Module>& made, std::string* log = nullptr) {
  if (image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  try {
    made = parse(ptx_of(image, current_capability()));
  } catch (const PtxError& error) {
    Journal::get().say(error.what());
    if (log != nullptr) *log = error.what();
    return error.line == 0 ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_ERROR_INVALID_PTX;
  }
  if (target_of(*made) > current_capability()) {
    Journal::get().say("PTX for " + std::string(made->target) + " on a device of capability " +
                       std::to_string(current_capability() / 10) + "." +
                       std::to_string(current_capability() % 10) + ": set DL_GPU_SIM_CAPABILITY");
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  return CUDA_SUCCESS;
}

/** Create a module's variables in the memory of a context's device. */
CUresult load(std::shared_ptr<Module> parsed, CUcontext context, std::unique_ptr<CUmod_st>& made) {
  made = std::make_unique<CUmod_st>();
  made->context = context;
  try {
    made->loaded = std::make_unique<LoadedModule>(std::move(parsed),
                                                  Driver::get().device(context->device).memory);
  } catch (const PtxError& error) {
    Journal::get().say(error.what());
    return CUDA_ERROR_INVALID_PTX;
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  return CUDA_SUCCESS;
}

CUresult load_module(CUmodule* module, const void* image, std::string* log = nullptr) {
  if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Module> parsed;
  if (const CUresult failed = read(image, parsed, log)) return failed;
  std::unique_ptr<CUmod_st> made;
  if (const CUresult failed = load(parsed, current_context(), made)) return failed;
  *module = made.release();
  Driver& driver = Driver::get();
  const std::lock_guard<std::mutex> lock(driver.mutex);
  driver.modules.insert(*module);
  return CUDA_SUCCESS;
}

bool is_kernel(const Module& module, const char* name) {
  const auto found = module.routine_of.find(name);
  return found != module.routine_of.end() &&
         module.routines[static_cast<size_t>(found->second)].entry;
}

CUfunction function_of(CUmodule module, const std::string& name) {
  Driver& driver = Driver::get();
  const std::lock_guard<std::mutex> lock(driver.mutex);
  auto& place = module->functions[name];
  if (!place) {
    place = std::make_unique<CUfunc_st>();
    place->what = Callable::What::kFunction;
    place->name = name;
    place->module = module->loaded.get();
    place->owner = module;
    driver.callables.insert(place.get());
  }
  return place.get();
}

bool is_module(CUmodule module) {
  Driver& driver = Driver::get();
  const std::lock_guard<std::mutex> lock(driver.mutex);
  return driver.modules.count(module) != 0;
}

bool is_library(CUlibrary library) {
  Driver& driver = Driver::get();
  const std::lock_guard<std::mutex> lock(driver.mutex);
  return driver.libraries.count(library) != 0;
}

void drop(CUmodule module) {
  Driver& driver = Driver::get();
  const std::lock_guard<std::mutex> lock(driver.mutex);
  driver.modules.erase(module);
  for (const auto& [name, function] : module->functions) driver.callables.erase(function.get());
}

/** Return a library's module on the current device, loaded on first use. */
CUresult module_of(CUlibrary library, CUmodule* module) {
  CUcontext context = current_context();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  static std::mutex loading;
  const std::lock_guard<std::mutex> lock(loading);
  auto& place = library->modules[context->device];
  if (!place) {
    std::unique_ptr<CUmod_st> made;
    if (const CUresult failed =
            load(library->module, &Driver::get().device(context->device).primary, made))
      return failed;
    place = std::move(made);
  }
  *module = place.get();
  return CUDA_SUCCESS;
}

CUresult variable(const LoadedModule& module, CUdeviceptr* pointer, size_t* bytes,
                  const char* name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const uint64_t address = module.address_of(name);
  if (address == 0) return CUDA_ERROR_NOT_FOUND;
  if (pointer != nullptr) *pointer = address;
  if (bytes != nullptr) *bytes = module.bytes_of(name);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult sim::function_of_kernel(CUfunction* function, const Callable* kernel) {
  if (kernel == nullptr || !is_library(kernel->library)) return CUDA_ERROR_INVALID_HANDLE;
  CUmodule module = nullptr;
  if (const CUresult failed = module_of(kernel->library, &module)) return failed;
  *function = function_of(module, kernel->name);
  (*function)->most_dynamic = kernel->most_dynamic;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuModuleLoadData(CUmodule* module, const void* image) {
  DL_ENTER("cuModuleLoadData");
  return load_module(module, image);
}

DL_EXPORT CUresult CUDAAPI cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  DL_ENTER("cuModuleLoadFatBinary");
  return load_module(module, image);
}

DL_EXPORT CUresult CUDAAPI cuModuleLoadDataEx(CUmodule* module, const void* image,
                                              unsigned int count, CUjit_option* options,
                                              void** values) {
  DL_ENTER("cuModuleLoadDataEx");
  char* buffer = nullptr;
  size_t size = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER) buffer = static_cast<char*>(values[i]);
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
      size = reinterpret_cast<uintptr_t>(values[i]);
  }
  std::string log;
  const CUresult result = load_module(module, image, &log);
  if (buffer != nullptr && size > 0) {
    std::strncpy(buffer, log.c_str(), size - 1);
    buffer[size - 1] = '\0';
  }
  return result;
}

DL_EXPORT CUresult CUDAAPI cuModuleLoad(CUmodule* module, const char* path) {
  DL_ENTER("cuModuleLoad");
  if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
  // Only regular files: a device may be endless, and opening a FIFO waits for another process.
  struct stat status;
  if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return CUDA_ERROR_FILE_NOT_FOUND;
  std::ifstream file(path, std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  const std::string image{std::istreambuf_iterator<char>(file), {}};
  return load_module(module, image.c_str());
}

DL_EXPORT CUresult CUDAAPI cuModuleUnload(CUmodule module) {
  DL_ENTER("cuModuleUnload");
  if (!is_module(module)) return CUDA_ERROR_INVALID_HANDLE;
  wait_for_all(module->context);
  drop(module);
  delete module;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuModuleGetFunction(CUfunction* function, CUmodule module,
                                               const char* name) {
  DL_ENTER("cuModuleGetFunction");
  if (function == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!is_module(module)) return CUDA_ERROR_INVALID_HANDLE;
  if (!is_kernel(module->loaded->module(), name)) return CUDA_ERROR_NOT_FOUND;
  *function = function_of(module, name);
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuModuleGetGlobal_v2(CUdeviceptr* pointer, size_t* bytes,
                                                CUmodule module, const char* name) {
  DL_ENTER("cuModuleGetGlobal");
  if (!is_module(module)) return CUDA_ERROR_INVALID_HANDLE;
  return variable(*module->loaded, pointer, bytes, name);
}

DL_EXPORT CUresult CUDAAPI cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option*,
                                             void**, unsigned int, CUlibraryOption*, void**,
                                             unsigned int) {
  DL_ENTER_ANY("cuLibraryLoadData");
  if (library == nullptr) return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_unique<CUlib_st>();
  if (const CUresult failed = read(image, made->module)) return failed;
  *library = made.release();
  Driver& driver = Driver::get();
  const std::lock_guard<std::mutex> lock(driver.mutex);
  driver.libraries.insert(*library);
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuLibraryUnload(CUlibrary library) {
  DL_ENTER_ANY("cuLibraryUnload");
  if (!is_library(library)) return CUDA_ERROR_INVALID_HANDLE;
  Driver& driver = Driver::get();
  for (const auto& [device, module] : library->modules) {
    wait_for_all(module->context);
    drop(module.get());
  }
  {
    const std::lock_guard<std::mutex> lock(driver.mutex);
    driver.libraries.erase(library);
    for (const auto& [name, kernel] : library->kernels) driver.callables.erase(kernel.get());
  }
  delete library;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuLibraryGetKernel(CUkernel* kernel, CUlibrary library,
                                              const char* name) {
  DL_ENTER_ANY("cuLibraryGetKernel");
  if (kernel == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!is_library(library)) return CUDA_ERROR_INVALID_HANDLE;
  if (!is_kernel(*library->module, name)) return CUDA_ERROR_NOT_FOUND;
  Driver& driver = Driver::get();
  const std::lock_guard<std::mutex> lock(driver.mutex);
  auto& place = library->kernels[name];
  if (!place) {
    place = std::make_unique<CUkern_st>();
    place->what = Callable::What::kKernel;
    place->name = name;
    place->library = library;
    driver.callables.insert(place.get());
  }
  *kernel = place.get();
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  DL_ENTER("cuLibraryGetModule");
  if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return is_library(library) ? module_of(library, module) : CUDA_ERROR_INVALID_HANDLE;
}

DL_EXPORT CUresult CUDAAPI cuLibraryGetGlobal(CUdeviceptr* pointer, size_t* bytes,
                                              CUlibrary library, const char* name) {
  DL_ENTER("cuLibraryGetGlobal");
  if (!is_library(library)) return CUDA_ERROR_INVALID_HANDLE;
  CUmodule module = nullptr;
  if (const CUresult failed = module_of(library, &module)) return failed;
  return variable(*module->loaded, pointer, bytes, name);
}

DL_EXPORT CUresult CUDAAPI cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  DL_ENTER("cuKernelGetFunction");
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return function_of_kernel(function, kernel);
}

DL_EXPORT CUresult CUDAAPI cuFuncGetModule(CUmodule* module, CUfunction function) {
  DL_ENTER("cuFuncGetModule");
  if (module == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *module = function->owner;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuFuncGetName(const char** name, CUfunction function) {
  DL_ENTER_ANY("cuFuncGetName");
  if (name == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = function->name.c_str();
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuKernelGetName(const char** name, CUkernel kernel) {
  DL_ENTER_ANY("cuKernelGetName");
  if (name == nullptr || kernel == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = kernel->name.c_str();
  return CUDA_SUCCESS;
}
