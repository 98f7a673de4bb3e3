#include "calls/call.h"

#include <ATen/EmptyTensor.h>
#include <c10/util/Exception.h>

#include "calls/generator_handle.h"
#include "memory/allocator.h"
#include "memory/new_tensor.h"
#include "memory/pinned.h"
#include "runtime/host.h"

namespace dl::core {
namespace {

std::vector<Site*>& mutable_sites() {
  static auto* list = new std::vector<Site*>;
  return *list;
}

c10::IntArrayRef to_ref(const diopiSize_t* size) {
  return {size->data, static_cast<size_t>(size->len)};
}

at::Tensor empty_pinned(c10::IntArrayRef size, c10::ScalarType type) {
  return at::Tensor(at::detail::empty_generic(
      size, pinned_allocator(), c10::DispatchKeySet(c10::DispatchKey::CPU), type, std::nullopt));
}

diopiError_t require_tensor(diopiContextHandle_t handle, diopiTensorHandle_t* tensor,
                            const diopiSize_t* size, const diopiSize_t* stride, diopiDtype_t dtype,
                            diopiDevice_t where) {
  try {
    if (handle == nullptr || tensor == nullptr || size == nullptr) return diopiErrorOccurred;
    const c10::ScalarType type = from_diopi(dtype);
    if (type == c10::ScalarType::Undefined) return diopiDtypeNotSupported;
    CallContext& context = CallContext::of(handle);
    const bool strided = stride != nullptr && stride->data != nullptr;
    at::Tensor made;
    if (where == diopi_host) {
      if (strided) return diopiNoImplement;
      made = empty_pinned(to_ref(size), type);
    } else {
      made = strided ? empty_strided_on(context.device_index(), to_ref(size), to_ref(stride), type)
                     : empty_on(context.device_index(), to_ref(size), type);
    }
    *tensor = context.require(std::move(made));
    return diopiSuccess;
  } catch (...) {
    // Out of memory is what can go wrong here.
    if (handle != nullptr) CallContext::of(handle).remember(std::current_exception());
    return diopiErrorOccurred;
  }
}

diopiError_t require_buffer(diopiContextHandle_t handle, diopiTensorHandle_t* tensor, int64_t bytes,
                            diopiDevice_t where) {
  const diopiSize_t size = {&bytes, 1};
  return require_tensor(handle, tensor, &size, nullptr, diopi_dtype_uint8, where);
}

diopiError_t record_start(diopiContextHandle_t, const char*, void** record) {
  *record = nullptr;
  return diopiSuccess;
}

diopiError_t record_end(diopiContextHandle_t, void**) { return diopiSuccess; }

}  // namespace

std::atomic<bool> profile_operators{false};

const dl_handle_ops_t& handle_ops() {
  static constexpr dl_handle_ops_t ops = {
      sizeof(dl_handle_ops_t), require_tensor, require_buffer, generator_get_state,
      generator_set_state,     record_start,   record_end,
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
  required_.push_back(std::make_unique<RequiredTensor>(std::move(tensor)));
  return required_.back()->handle.get();
}

at::Tensor CallContext::take(diopiTensorHandle_t handle) const {
  for (const auto& required : required_) {
    if (required->handle.get() == handle) return required->tensor;
  }
  TORCH_CHECK(
      false,
      "[dl] the vendor returned an output tensor that it did not get from diopiRequireTensor");
}

void CallContext::release_required() {
  if (!device_unchecked(index_).synchronous) {
    for (const auto& required : required_) {
      if (required->tensor.is_cpu())
        record_pinned_use(required->tensor.const_data_ptr(), current_stream(index_));
    }
  }
  required_.clear();
}

void check_outcome(diopiError_t code, const char* name, const Device& owner, int index) {
  switch (code) {
    case diopiNoImplement:
    case diopiDtypeNotSupported:
    case diopiForceFallbackToCPU:
    case diopi5DNotSupported:
      return;
    default:
      break;
  }
  const std::string reason = owner.vendor->last_error();
  // Vendors name the operator in brackets themselves; do it for those that do not.
  const bool named = reason.rfind('[', 0) == 0;
  throw VendorError(
      {__func__, __FILE__, static_cast<uint32_t>(__LINE__)},
      c10::str(named ? "" : "[" + std::string(name) + "] ", reason, " (dl:", index, ", vendor ",
               owner.vendor->name(), ", error ", static_cast<int>(code), ")"));
}

}  // namespace dl::core
