#include "runtime/vendor.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "runtime/host.h"
#include "runtime/legacy.h"

namespace dl::core {

Vendor::Vendor(std::string name, std::string library, bool legacy)
    : name_(std::move(name)), library_(std::move(library)) {
  open(legacy);
  const auto* table = instance_->table;
  // Copy what the vendor filled; a shorter, older table leaves the newer slots NULL.
  std::memcpy(&slots_, table, std::min<size_t>(table->struct_size, sizeof(slots_)));
  capabilities_ = slots_.capabilities;
  if (slots_.version != nullptr) version_ = slots_.version;
  // Counting may start a driver, which `present` saves where there is none.
  int32_t present = 1;
  if (slots_.present != nullptr) call(&dl_vendor_table_t::present, "present", &present);
  if (present != 0) call(&dl_vendor_table_t::device_count, "device_count", &device_count_);
  if (device_count_ > 0) bind_operators();
}

void Vendor::open(bool legacy) {
  if (legacy) preload_legacy_runtime();
  handle_ = dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  TORCH_CHECK(handle_ != nullptr, "[dl] cannot load vendor ", name_, ": ", dlerror(),
              ". Reinstall its wheel, or run `dl doctor` for details");
  dl_status_t* status = nullptr;
  if (legacy) {
    instance_ = make_legacy_instance(handle_, name_);
  } else {
    const auto entry = reinterpret_cast<dl_vendor_entry_v1_t>(dlsym(handle_, "dl_vendor_v1"));
    TORCH_CHECK(entry != nullptr, "[dl] ", library_, " (vendor ", name_,
                ") exports no dl_vendor_v1: it was built for another vendor ABI. Install a version "
                "of its wheel "
                "that matches this dl-core, or declare it as a legacy library");
    status = entry(host_table(), &instance_);
  }
  check_status(status, "dl_vendor_v1", name_);
  TORCH_CHECK(instance_ != nullptr && instance_->table != nullptr, "[dl] dl_vendor_v1 of vendor ",
              name_, " returned no instance");
  TORCH_CHECK(instance_->table->struct_size >= offsetof(dl_vendor_table_t, present), "[dl] vendor ",
              name_, " returned a table of ", instance_->table->struct_size,
              " bytes, too short to be one");
}

void Vendor::bind_operators() {
  if (slots_.operators == nullptr) return;
  const dl_operator_t* list = nullptr;
  uint64_t count = 0;
  call(&dl_vendor_table_t::operators, "operators", &list, &count);
  std::unordered_map<std::string_view, size_t> wanted;
  wanted.reserve(kOpCount);
  for (size_t i = 0; i < kOpCount; ++i) wanted.emplace(kOpNames[i], i);
  for (uint64_t i = 0; i < count; ++i) {
    const auto found = wanted.find(list[i].name);
    if (found == wanted.end()) continue;
    if (list[i].fingerprint != kOpFingerprints[found->second]) {
      mismatched_.emplace_back(list[i].name);
      continue;
    }
    functions_[found->second] = list[i].function;
    ++bound_;
  }
}

const char* Vendor::last_error() const {
  const char* text = slots_.last_error != nullptr ? slots_.last_error(instance_) : nullptr;
  return text != nullptr && *text != '\0' ? text : "the vendor gave no reason";
}

void Vendor::unsupported(const char* what) const {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "[dl] vendor ", name_, " ", version_, " does not offer ",
                              what);
}

}  // namespace dl::core
