#include "runtime/vendor.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <string_view>
#include <unordered_map>

#include "dl/checked.hpp"
#include "runtime/host.h"
#include "runtime/legacy.h"

namespace dl::core {

Vendor::Vendor(std::string name, std::string library, bool legacy, dl_adaptor_t* adaptor)
    : name_(std::move(name)), library_(std::move(library)), adaptor_(adaptor) {
  open(legacy);
  capabilities_ = slots().capabilities;
  version_ = slots().version;
  if (slots().device_count == nullptr) return;
  // Counting devices may start a driver; `present` avoids that if no driver is installed.
  int32_t present = 1;
  if (slots().present != nullptr) call(&dl_vendor_table_t::present, "present", &present);
  if (present != 0) call(&dl_vendor_table_t::device_count, "device_count", &device_count_);
  if (device_count_ > 0) bind_operators();
}

void Vendor::open(bool legacy) {
  if (legacy) preload_legacy_runtime();
  handle_ = dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  TORCH_CHECK(handle_ != nullptr, "[dl] cannot load vendor ", name_, ": ", dlerror(),
              ". Reinstall its wheel, or run `dl doctor` for details");
  if (legacy) {
    instance_ = make_legacy_instance(handle_, name_);
    checked_ = new checked::Vendor(instance_);
    return;
  }
  const auto entry = reinterpret_cast<dl_vendor_entry_v1_t>(dlsym(handle_, "dl_vendor_v1"));
  TORCH_CHECK(entry != nullptr, "[dl] ", library_, " (vendor ", name_,
              ") exports no dl_vendor_v1: it was built for another vendor ABI. Install a version "
              "of its wheel that matches this dl-core, or declare it as a legacy library");
  dl_opened_t opened;
  check_status(checked::open(entry, host_table(), &opened), "dl_vendor_v1", name_);
  TORCH_CHECK(opened.defect[0] == '\0', "[dl] ", library_, ": dl_vendor_v1 ", opened.defect,
              ". The library violates the vendor interface; ask its maintainers for a release that "
              "keeps it");
  instance_ = opened.vendor;
  checked_ = opened.checked;
}

void Vendor::bind_operators() {
  const dl_operator_t* list = nullptr;
  uint64_t count = 0;
  if (slots().operators != nullptr) call(&dl_vendor_table_t::operators, "operators", &list, &count);
  if (adaptor_ != nullptr) {
    check_status(adaptor_->bind(adaptor_, instance_, checked_, list, count, &list), "its adaptor",
                 name_);
    if (DL_HAS_FIELD(adaptor_, dl_adaptor_t, bound_count) && adaptor_->bound_count != nullptr)
      count = adaptor_->bound_count(adaptor_);
  }
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
    if (list[i].function == nullptr || own_functions_[found->second] != nullptr) continue;
    own_functions_[found->second] = list[i].function;
    ++bound_;
  }
  stand_in(nullptr);
}

void Vendor::stand_in(const dl_function_t* functions) const {
  for (size_t i = 0; i < kOpCount; ++i) {
    if (own_functions_[i] == nullptr) continue;
    functions_[i].store(functions == nullptr ? own_functions_[i] : functions[i],
                        std::memory_order_relaxed);
  }
}

const char* Vendor::given_reason(const char* operator_name) const {
  if (adaptor_ != nullptr) {
    const char* said = adaptor_->last_error(adaptor_, operator_name);
    if (said != nullptr) return said;
  }
  const auto last_error = slots().last_error;
  const char* text = last_error != nullptr ? last_error(checked_) : nullptr;
  return text != nullptr && *text != '\0' ? text : nullptr;
}

const char* Vendor::last_error(const char* operator_name) const {
  const char* const reason = given_reason(operator_name);
  return reason != nullptr ? reason : "the vendor gave no reason";
}

void Vendor::unsupported(const char* what) const {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "[dl] vendor ", name_, " ", version_, " does not offer ",
                              what);
}

}  // namespace dl::core
