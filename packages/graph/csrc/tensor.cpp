#include "tensor.h"

#include "dl/dtype.h"

namespace dl::graph {

Handle::Handle(const dl_handle_ops_t& ops, int32_t dtype, std::vector<int64_t> shape,
               std::vector<int64_t> strides, int64_t offset, int64_t storage_bytes, int32_t device,
               int32_t device_index)
    : offset_bytes_(offset * dl_dtype_bytes(dtype)), sizes_(std::move(shape)) {
  const size_t ndim = sizes_.size();
  sizes_.insert(sizes_.end(), strides.begin(), strides.end());
  sizes_.push_back(0);  // never empty, so that the addresses are not NULL
  prefix_.magic = DL_TENSOR_MAGIC;
  prefix_.version = DL_PREFIX_VERSION;
  prefix_.ops = &ops;
  prefix_.storage_offset = offset;
  prefix_.storage_bytes = storage_bytes;
  prefix_.sizes = sizes_.data();
  prefix_.strides = sizes_.data() + ndim;
  prefix_.ndim = static_cast<int64_t>(ndim);
  prefix_.dtype = dtype;
  prefix_.device = device;
  prefix_.device_index = device_index;
  count();
}

void Handle::count() {
  prefix_.numel = 1;
  bool contiguous = true;
  for (auto i = static_cast<size_t>(prefix_.ndim); i-- > 0;) {
    if (sizes_[i] != 1 && prefix_.strides[i] != prefix_.numel) contiguous = false;
    prefix_.numel *= sizes_[i];
  }
  prefix_.flags = contiguous || prefix_.numel == 0 ? DL_TENSOR_CONTIGUOUS : 0;
}

}  // namespace dl::graph
