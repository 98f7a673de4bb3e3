// One loaded vendor library: its instance, its slots and its operators.
#pragma once

#include <c10/macros/Macros.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "contract/operators.gen.h"
#include "dl/adaptor.h"
#include "dl/extension.h"
#include "dl/vendor.h"
#include "runtime/status.h"

namespace dl::core {

// Loads a library with RTLD_LOCAL and creates an instance. Never unloaded: vendors may own threads.
class Vendor {
 public:
  // Throws c10::Error with the library, the cause and the cure. `adaptor` stands before its
  // operators, and outlives it; NULL: none does.
  Vendor(std::string name, std::string library, bool legacy, dl_adaptor_t* adaptor = nullptr);
  Vendor(const Vendor&) = delete;
  Vendor& operator=(const Vendor&) = delete;

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }
  const std::string& library() const { return library_; }
  int32_t device_count() const { return device_count_; }
  // As the library made it; all but its operators is called through slots().
  dl_vendor_t* instance() const { return instance_; }
  // The same behind checks, as slots() has them.
  dl_vendor_t* checked() const { return checked_; }
  uint64_t capabilities() const { return capabilities_; }
  bool has(uint64_t capability) const { return (capabilities_ & capability) == capability; }

  // NULL when the vendor lacks the operator or was compiled for another signature of it.
  dl_function_t function(Op op) const {
    return functions_[static_cast<size_t>(op)].load(std::memory_order_relaxed);
  }
  // What function() gives while nothing stands in for it.
  dl_function_t own_function(Op op) const { return own_functions_[static_cast<size_t>(op)]; }
  // From now on `functions`, in the order of Op, stand in for those that the vendor has; NULL:
  // none.
  void stand_in(const dl_function_t* functions) const;
  size_t bound_operators() const { return bound_; }
  const std::vector<std::string>& mismatched_operators() const { return mismatched_; }
  // Why that operator, the last one on this thread, failed.
  const char* last_error(const char* operator_name) const;

  // What the library offers, checked (dl/checked.h); slots beyond the vendor's struct_size are
  // NULL.
  const dl_vendor_table_t& slots() const { return *checked_->table; }

  // An extension, checked like the table and as long as this release knows it; NULL without one.
  template <typename Extension>
  const Extension* extension(uint64_t type) const {
    return reinterpret_cast<const Extension*>(dl_extension_find(&slots(), type));
  }
  // As call below, for a slot of an extension that is not NULL.
  template <typename Slot, typename... Args>
  void call_extension(Slot slot, const char* what, Args... args) const {
    check_status(slot(checked_, args...), what, name_);
  }
  // The same; false where the vendor answers that it does not support this call.
  template <typename Slot, typename... Args>
  bool try_extension(Slot slot, const char* what, Args... args) const {
    return check_supported(slot(checked_, args...), what, name_);
  }

  // Calls a slot, turning NULL slots and error objects into exceptions.
  template <typename Slot, typename... Args>
  void call(Slot dl_vendor_table_t::* slot, const char* what, Args... args) const {
    const auto function = slots().*slot;
    if (C10_UNLIKELY(function == nullptr)) unsupported(what);
    check_status(function(checked_, args...), what, name_);
  }
  // As call, for destructors.
  template <typename Slot, typename... Args>
  void call_noexcept(Slot dl_vendor_table_t::* slot, const char* what,
                     Args... args) const noexcept {
    const auto function = slots().*slot;
    if (function != nullptr) warn_status(function(checked_, args...), what, name_);
  }

 private:
  void open(bool legacy);
  void bind_operators();
  [[noreturn]] void unsupported(const char* what) const;

  std::string name_;
  std::string library_;
  std::string version_;
  void* handle_ = nullptr;
  dl_vendor_t* instance_ = nullptr;
  dl_vendor_t* checked_ = nullptr;
  dl_adaptor_t* adaptor_ = nullptr;
  uint64_t capabilities_ = 0;
  int32_t device_count_ = 0;
  size_t bound_ = 0;
  std::vector<std::string> mismatched_;
  mutable std::atomic<dl_function_t> functions_[kOpCount] = {};
  dl_function_t own_functions_[kOpCount] = {};
};

}  // namespace dl::core
