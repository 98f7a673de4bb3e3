#include "runtime/legacy.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "contract/operators.gen.h"
#include "dl/foreign_code.hpp"

namespace dl::core {
namespace {

using SetContext = diopiContextHandle_t (*)(diopiContextHandle_t);

std::string runtime_path;
SetContext set_current_context = nullptr;

struct LegacyVendor : dl_vendor {
  dl_vendor_table_t slots{};
  std::string name;
  std::string device_name;
  std::string version;
  std::vector<dl_operator_t> operators;
  const char* (*last_error)() = nullptr;
};

LegacyVendor& self(dl_vendor_t* vendor) { return *static_cast<LegacyVendor*>(vendor); }

dl_status_t* out_of_memory() {
  static dl_status_t status = {
      sizeof(dl_status_t), DL_OUT_OF_MEMORY,    0,      "out of host memory",
      "posix_memalign",    [](dl_status_t*) {}, nullptr};
  return &status;
}

dl_status_t* allocate(dl_vendor_t*, int32_t, uint64_t bytes, void** memory) {
  return posix_memalign(memory, 64, bytes) == 0 ? nullptr : out_of_memory();
}

void fill_slots(dl_vendor_table_t& slots) {
  slots.struct_size = sizeof(slots);
  slots.capabilities = DL_CAP_HOST_ACCESSIBLE | DL_CAP_SYNCHRONOUS | DL_CAP_ANY_HOST_POINTER;
  slots.destroy = [](dl_vendor_t* vendor) { delete &self(vendor); };
  slots.device_count = [](dl_vendor_t*, int32_t* count) -> dl_status_t* {
    *count = 1;
    return nullptr;
  };
  slots.device_properties = [](dl_vendor_t* vendor, int32_t,
                               dl_device_properties_t* properties) -> dl_status_t* {
    self(vendor).device_name.copy(properties->name, sizeof(properties->name) - 1);
    return nullptr;
  };
  slots.device_synchronize = [](dl_vendor_t*, int32_t) -> dl_status_t* { return nullptr; };
  slots.memory_allocate = allocate;
  slots.memory_free = [](dl_vendor_t*, int32_t, void* memory) -> dl_status_t* {
    std::free(memory);
    return nullptr;
  };
  slots.memory_copy = [](dl_vendor_t*, int32_t, void* destination, const void* source,
                         uint64_t bytes, int32_t, void*) -> dl_status_t* {
    std::memmove(destination, source, bytes);
    return nullptr;
  };
  slots.memory_set = [](dl_vendor_t*, int32_t, void* memory, int32_t value, uint64_t bytes,
                        void*) -> dl_status_t* {
    std::memset(memory, value, bytes);
    return nullptr;
  };
  slots.operators = [](dl_vendor_t* vendor, const dl_operator_t** list,
                       uint64_t* count) -> dl_status_t* {
    *list = self(vendor).operators.data();
    *count = self(vendor).operators.size();
    return nullptr;
  };
  slots.last_error = [](dl_vendor_t* vendor) -> const char* {
    return self(vendor).last_error != nullptr ? self(vendor).last_error() : nullptr;
  };
}

}  // namespace

void set_legacy_runtime(std::string path) { runtime_path = std::move(path); }

void preload_legacy_runtime() {
  static std::once_flag once;
  std::call_once(once, [] {
    TORCH_CHECK(!runtime_path.empty(),
                "[dl] no libdiopirt.so.1 for legacy libraries: reinstall dl-diopi-proto");
    void* handle = dlopen(runtime_path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    TORCH_CHECK(handle != nullptr, "[dl] cannot load ", runtime_path, ": ", dlerror());
    set_current_context =
        reinterpret_cast<SetContext>(dlsym(handle, "diopirt_set_current_context"));
  });
}

dl_vendor_t* make_legacy_instance(void* handle, const std::string& name) {
  auto vendor = std::make_unique<LegacyVendor>();
  fill_slots(vendor->slots);
  vendor->name = name;
  vendor->slots.name = vendor->name.c_str();
  const auto find = [&](const char* symbol) {
    void* const found = dlsym(handle, symbol);
    TORCH_CHECK(found == nullptr || foreign::executable(found), "[dl] the library of vendor ", name,
                " exports ", symbol, " as data, which cannot be called; ask its maintainers for a ",
                "release that exports a function");
    return found;
  };
  const auto ask = [&](const char* symbol) -> std::string {
    const auto function = reinterpret_cast<const char* (*)()>(find(symbol));
    const char* text = function != nullptr ? function() : nullptr;
    return text != nullptr ? text : "";
  };
  vendor->device_name = ask("diopiGetVendorName");
  vendor->version = ask("diopiGetImplVersion");
  vendor->slots.version = vendor->version.c_str();
  // A legacy library has no fingerprints: its wrapper plugin guarantees the signatures.
  for (size_t i = 0; i < kOpCount; ++i) {
    if (void* symbol = find(kOpNames[i])) {
      vendor->operators.push_back(
          {kOpNames[i], kOpFingerprints[i], reinterpret_cast<dl_function_t>(symbol), 0});
    }
  }
  vendor->last_error = reinterpret_cast<const char* (*)()>(find("diopiGetLastErrorString"));
  vendor->table = &vendor->slots;
  return vendor.release();
}

LegacyContextScope::LegacyContextScope(diopiContextHandle_t context) {
  if (C10_UNLIKELY(set_current_context != nullptr)) previous_ = set_current_context(context);
}

LegacyContextScope::~LegacyContextScope() {
  if (C10_UNLIKELY(set_current_context != nullptr)) set_current_context(previous_);
}

}  // namespace dl::core
