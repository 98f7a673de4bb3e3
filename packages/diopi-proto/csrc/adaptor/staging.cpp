#include "adaptor/staging.h"

#include "adaptor/failure.h"
#include "dl/dtype.h"

namespace dl::adaptor {
namespace {

// Bytes from the first element to the end of the last.
size_t span(const dl_tensor_prefix_t& tensor) {
  if (tensor.numel == 0) return 0;
  int64_t last = 0;
  for (int64_t d = 0; d < tensor.ndim; ++d) last += (tensor.sizes[d] - 1) * tensor.strides[d];
  return static_cast<size_t>((last + 1) * dl_dtype_bytes(tensor.dtype));
}

bool reachable(const dl_vendor_t* checked, const dl_tensor_prefix_t& tensor) {
  return tensor.device == diopi_host ||
         (checked->table->capabilities & DL_CAP_HOST_ACCESSIBLE) != 0;
}

}  // namespace

void wait(dl_vendor_t* checked, diopiContextHandle_t ctx) {
  const dl_vendor_table_t& table = *checked->table;
  if ((table.capabilities & DL_CAP_SYNCHRONOUS) != 0) return;
  const int32_t device = dl_context_device(ctx);
  check(table.stream_synchronize != nullptr
            ? table.stream_synchronize(checked, device, dl_context_stream(ctx))
            : table.device_synchronize(checked, device),
        "synchronizing the stream failed");
}

Staged::Staged(dl_vendor_t* checked, diopiContextHandle_t ctx, const dl_tensor_prefix_t& tensor)
    : checked_(checked), ctx_(ctx), tensor_(tensor) {
  wait(checked, ctx);
  if (reachable(checked, tensor)) return;
  bytes_ = span(tensor);
  copy_.reset(new char[bytes_]);
  // Outputs are read too, so that gaps between their elements are preserved.
  copy(copy_.get(), tensor.data, DL_COPY_DEVICE_TO_HOST, "reading the tensor's memory failed");
}

Elements Staged::elements() const {
  return {tensor_.dtype, tensor_.ndim, tensor_.sizes, tensor_.strides,
          copy_ != nullptr ? copy_.get() : static_cast<char*>(tensor_.data)};
}

void Staged::write_back() {
  if (copy_ == nullptr) return;
  copy(tensor_.data, copy_.get(), DL_COPY_HOST_TO_DEVICE, "writing the tensor's memory failed");
}

void Staged::copy(void* to, const void* from, int32_t kind, const char* what) {
  if (bytes_ == 0) return;
  check(checked_->table->memory_copy(checked_, dl_context_device(ctx_), to, from, bytes_, kind,
                                     dl_context_stream(ctx_)),
        what);
}

}  // namespace dl::adaptor
