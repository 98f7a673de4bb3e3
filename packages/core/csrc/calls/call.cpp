#include "calls/call.h"

#include <ATen/EmptyTensor.h>
#include <c10/util/Exception.h>
#include <cxxabi.h>

#include "calls/added.h"
#include "calls/decline.h"
#include "calls/generator_handle.h"
#include "calls/required_tensor.h"
#include "dl/foreign.hpp"
#include "memory/allocator.h"
#include "memory/new_tensor.h"
#include "memory/pinned.h"
#include "runtime/device_error.h"
#include "runtime/host.h"
#include "runtime/recorder.h"

namespace dl::core {
namespace {

std::atomic<const CallTrace*> call_trace{nullptr};

std::vector<Site*>& mutable_sites() {
  static auto* list = new std::vector<Site*>;
  return *list;
}

// Throws for violations of the interface by an operator.
template <typename... What>
[[noreturn]] void throw_vendor_error(const char* contract_name, int index, const What&... what) {
  const char* const added = added_by(index, contract_name);
  const std::string by = added == nullptr ? "" : c10::str(", operator added by ", added);
  throw VendorError(
      {__func__, __FILE__, static_cast<uint32_t>(__LINE__)},
      c10::str("[", contract_name, "] ", what..., " (dl:", index, ", vendor ",
               device_unchecked(index).vendor->name(), by, "). The ",
               added == nullptr ? "vendor" : "added operator",
               " violates the interface; ask its maintainers for a fixed release, or set ",
               added == nullptr ? "DL_FORCE_FALLBACK to run the operator on the CPU"
                                : "DL_OPERATORS=off to use the vendor's own"));
}

at::Tensor empty_pinned(c10::IntArrayRef size, c10::ScalarType type) {
  return at::Tensor(at::detail::empty_generic(
      size, pinned_allocator(), c10::DispatchKeySet(c10::DispatchKey::CPU), type, std::nullopt));
}

// The context of an active call. A handle kept from an earlier call points to memory without the
// magic number.
CallContext* live(diopiContextHandle_t handle) {
  const auto* prefix = reinterpret_cast<const dl_context_prefix_t*>(handle);
  if (prefix == nullptr || prefix->magic != DL_CONTEXT_MAGIC) return nullptr;
  return &CallContext::of(handle);
}

at::Tensor make_required(int index, const RequiredLayout& layout, c10::ScalarType type,
                         diopiDevice_t where) {
  if (where == diopi_host) return empty_pinned(layout.sizes, type);
  if (layout.strides) return empty_strided_on(index, layout.sizes, *layout.strides, type);
  return empty_on(index, layout.sizes, type);
}

void check_place(const diopiTensorHandle_t* tensor, diopiDevice_t where, const char* function) {
  if (tensor == nullptr)
    throw VendorDefect(c10::str(function, " was called with NULL for the tensor"));
  if (where != diopi_host && where != diopi_device)
    throw VendorDefect(c10::str(function, " was called with the device ", static_cast<int>(where),
                                ", which is not a diopiDevice_t"));
}

diopiError_t require_tensor(diopiContextHandle_t handle, diopiTensorHandle_t* tensor,
                            const diopiSize_t* size, const diopiSize_t* stride, diopiDtype_t dtype,
                            diopiDevice_t where) {
  CallContext* const context = live(handle);
  if (context == nullptr) return diopiErrorOccurred;
  try {
    check_place(tensor, where, "diopiRequireTensor");
    const c10::ScalarType type = from_diopi(dtype);
    if (type == c10::ScalarType::Undefined) return diopiDtypeNotSupported;
    const RequiredLayout layout = required_layout(size, stride, c10::elementSize(type));
    if (where == diopi_host && layout.strides) return diopiNoImplement;
    *tensor = context->require(make_required(context->device_index(), layout, type, where));
    return diopiSuccess;
  } catch (...) {
    context->remember(std::current_exception());
    return diopiErrorOccurred;
  }
}

diopiError_t require_buffer(diopiContextHandle_t handle, diopiTensorHandle_t* tensor, int64_t bytes,
                            diopiDevice_t where) {
  CallContext* const context = live(handle);
  if (context == nullptr) return diopiErrorOccurred;
  try {
    check_place(tensor, where, "diopiRequireBuffer");
    if (bytes < 0)
      throw VendorDefect(c10::str("diopiRequireBuffer was called for ", bytes, " bytes"));
    *tensor = context->require(
        make_required(context->device_index(), {bytes, std::nullopt}, at::kByte, where));
    return diopiSuccess;
  } catch (...) {
    context->remember(std::current_exception());
    return diopiErrorOccurred;
  }
}

diopiError_t device_error(diopiContextHandle_t handle, dl_device_error_t** word) {
  CallContext* const context = live(handle);
  *word = nullptr;
  if (context == nullptr) return diopiSuccess;
  try {
    *word = context->error_word();
    return diopiSuccess;
  } catch (...) {
    context->remember(std::current_exception());
    return diopiErrorOccurred;
  }
}

diopiError_t record_start(diopiContextHandle_t, const char*, void** record) {
  *record = nullptr;
  return diopiSuccess;
}

diopiError_t record_end(diopiContextHandle_t, void**) { return diopiSuccess; }

}  // namespace

std::atomic<uint8_t> noted{0};

void set_call_trace(const CallTrace* trace) { call_trace.store(trace, std::memory_order_release); }

void NativeCall::begin_note() {
  const CallTrace* const trace = call_trace.load(std::memory_order_acquire);
  if ((noted.load(std::memory_order_relaxed) & kNotedTrace) != 0 && trace != nullptr)
    trace->begin(context_.device_index());
  start_ = now_ns();
}

void NativeCall::end_note(const char* contract_name) {
  const uint64_t end = now_ns();
  const uint8_t what = noted.load(std::memory_order_relaxed);
  if ((what & kNotedTimes) != 0) {
    site_.calls.fetch_add(1, std::memory_order_relaxed);
    site_.nanoseconds.fetch_add(end - start_, std::memory_order_relaxed);
  }
  const CallTrace* const trace = call_trace.load(std::memory_order_acquire);
  if ((what & kNotedTrace) != 0 && trace != nullptr)
    trace->end(context_.device_index(), contract_name, site_, start_, end);
}

const dl_handle_ops_t& handle_ops() {
  static constexpr dl_handle_ops_t ops = {
      sizeof(dl_handle_ops_t), require_tensor, require_buffer, generator_get_state,
      generator_set_state,     record_start,   record_end,     device_error,
  };
  return ops;
}

Site::Site(const char* name, std::initializer_list<const char*> served,
           std::initializer_list<Op> ops)
    : overload(name), forms(served), operators(ops) {
  mutable_sites().push_back(this);
}

const std::vector<Site*>& sites() { return mutable_sites(); }

const dl_host_t* CallContext::host_table() { return dl::core::host_table(); }

diopiTensorHandle_t CallContext::require(at::Tensor tensor) {
  left_over_ = true;
  required_.push_back(std::make_unique<RequiredTensor>(std::move(tensor)));
  return required_.back()->handle.get();
}

at::Tensor CallContext::take(diopiTensorHandle_t handle, const ExpectedOutput& expected) const {
  const auto refuse = [&](const auto&... what) {
    throw_vendor_error(expected.contract_name, index_, "stored ", what...);
  };
  for (const auto& required : required_) {
    if (required->handle.get() != handle) continue;
    const at::Tensor& tensor = required->tensor;
    if (!tensor.is_privateuseone()) refuse("a tensor in host memory for its output");
    if (expected.type != c10::ScalarType::Undefined && tensor.scalar_type() != expected.type)
      refuse("a tensor of ", tensor.scalar_type(), " for its output, which is of ", expected.type);
    if (expected.dimensions >= 0 && tensor.dim() != expected.dimensions)
      refuse("a tensor of shape ", tensor.sizes(), " for its output, which has ",
             expected.dimensions, " dimensions");
    return tensor;
  }
  if (handle == nullptr) refuse("NULL for its output");
  refuse("a tensor for its output that it did not get from diopiRequireTensor");
  return {};
}

void CallContext::rethrow_failure(const char* contract_name) const {
  if (!failure_) return;
  try {
    std::rethrow_exception(failure_);
  } catch (const VendorDefect& defect) {
    throw_vendor_error(contract_name, index_, defect.what());
  } catch (c10::Error& error) {
    // Rethrow an error of the same class, because callers catch out-of-memory errors by class.
    error.add_context(c10::str("[", contract_name, "] asked for this memory (dl:", index_,
                               ", vendor ", device_unchecked(index_).vendor->name(), ")"));
    throw;
  }
}

void operator_threw(const char* contract_name, int index) {
  try {
    throw;
  } catch (abi::__forced_unwind&) {
    throw;  // the thread ends
  } catch (const std::exception& error) {
    throw_vendor_error(contract_name, index,
                       "threw an exception: ", foreign::printable(error.what()));
  } catch (...) {
    throw_vendor_error(contract_name, index, "threw an exception that is not a std::exception");
  }
}

dl_device_error_t* CallContext::error_word() {
  dl_device_error_t* const word = dl::core::error_word(current_stream(index_));
  may_leave_error_ |= word != nullptr;
  left_over_ |= may_leave_error_;
  if (word != nullptr && is_recorded()) record_event("late error");
  return word;
}

void CallContext::finish() noexcept {
  // All work that may write to the error word is enqueued now.
  if (may_leave_error_) note_checked_call(current_stream(index_));
  if (!device_unchecked(index_).synchronous) {
    for (const auto& required : required_) {
      if (required->tensor.is_cpu())
        keep_until_passed(required->tensor.const_data_ptr(), current_stream(index_));
    }
  }
  required_.clear();
}

void check_outcome(diopiError_t code, const char* name, const Site& site, int index) {
  switch (code) {
    case diopiNoImplement:
    case diopiDtypeNotSupported:
    case diopiForceFallbackToCPU:
    case diopi5DNotSupported:
      note_decline(site, name, code);
      return;
    default:
      break;
  }
  const Vendor& vendor = *device_unchecked(index).vendor;
  const std::string reason = vendor.last_error(name);
  // Vendors usually begin the message with the operator in brackets; add it if they do not.
  const bool named = reason.rfind('[', 0) == 0;
  throw VendorError({__func__, __FILE__, static_cast<uint32_t>(__LINE__)},
                    c10::str(named ? "" : "[" + std::string(name) + "] ", reason, " (dl:", index,
                             ", vendor ", vendor.name(), ", error ", static_cast<int>(code), ")"));
}

}  // namespace dl::core
