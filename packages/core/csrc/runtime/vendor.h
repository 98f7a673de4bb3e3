// A loaded vendor library: its instance, its table and its operators.
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

// Loads a library with RTLD_LOCAL and creates an instance. Never unloaded, because vendors may own
// threads.
class Vendor {
 public:
  // Throws c10::Error with the library, the cause and the remedy. `adaptor` wraps the vendor's
  // operators and must outlive this object; NULL: none.
  Vendor(std::string name, std::string library, bool legacy, dl_adaptor_t* adaptor = nullptr);
  Vendor(const Vendor&) = delete;
  Vendor& operator=(const Vendor&) = delete;

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }
  const std::string& library() const { return library_; }
  int32_t device_count() const { return device_count_; }
  // The instance as the library created it. Only its operators may be called directly; everything
  // else goes through slots().
  dl_vendor_t* instance() const { return instance_; }
  // The same instance behind checks, as used by slots().
  dl_vendor_t* checked() const { return checked_; }
  uint64_t capabilities() const { return capabilities_; }
  bool has(uint64_t capability) const { return (capabilities_ & capability) == capability; }

  // NULL if the vendor does not have the operator, or was compiled for another signature.
  dl_function_t function(Op op) const {
    return functions_[static_cast<size_t>(op)].load(std::memory_order_relaxed);
  }
  // The vendor's function, even while stand_in() replaces it.
  dl_function_t own_function(Op op) const { return own_functions_[static_cast<size_t>(op)]; }
  // Replaces the functions that the vendor has with `functions`, in the order of Op; NULL removes
  // the replacement.
  void stand_in(const dl_function_t* functions) const;
  size_t bound_operators() const { return bound_; }
  const std::vector<std::string>& mismatched_operators() const { return mismatched_; }
  // The vendor's reason for the failure or the decline of the last operator on this thread; NULL if
  // it gave none. Valid until the next call of this function on the thread.
  const char* given_reason(const char* operator_name) const;
  // Same, with a substitute for a missing reason.
  const char* last_error(const char* operator_name) const;

  // The library's table, checked (dl/checked.h); functions beyond the vendor's struct_size are
  // NULL.
  const dl_vendor_table_t& slots() const { return *checked_->table; }

  // An extension, checked like the table and limited to the size that this release knows; NULL if
  // the vendor does not implement it.
  template <typename Extension>
  const Extension* extension(uint64_t type) const {
    return reinterpret_cast<const Extension*>(dl_extension_find(&slots(), type));
  }
  // As call() below, for a function of an extension that is not NULL.
  template <typename Slot, typename... Args>
  void call_extension(Slot slot, const char* what, Args... args) const {
    check_status(slot(checked_, args...), what, name_);
  }
  // Same; returns false if the vendor reports that it does not support the call.
  template <typename Slot, typename... Args>
  bool try_extension(Slot slot, const char* what, Args... args) const {
    return check_supported(slot(checked_, args...), what, name_);
  }

  // Calls a function of the table; throws for NULL functions and error statuses.
  template <typename Slot, typename... Args>
  void call(Slot dl_vendor_table_t::* slot, const char* what, Args... args) const {
    const auto function = slots().*slot;
    if (C10_UNLIKELY(function == nullptr)) unsupported(what);
    check_status(function(checked_, args...), what, name_);
  }
  // As call(), for destructors.
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
