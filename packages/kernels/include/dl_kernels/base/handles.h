// The only code that accesses the host's handles: by their layout or, in a library compiled with
// DIOPIRT_EXTERN, through DIOPI's functions, which any host provides.
#ifndef DL_KERNELS_BASE_HANDLES_H_
#define DL_KERNELS_BASE_HANDLES_H_

#include <cstdint>

#include "diopi/diopirt.h"
#include "dl/context.h"
#include "dl/handles.h"
#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

#if defined(DIOPIRT_EXTERN)

// Return true for row-major tensors without gaps; dimensions of extent 1 may have any stride.
inline bool is_row_major(const diopiSize_t& sizes, const diopiSize_t& strides) {
  int64_t next = 1;
  for (int64_t d = sizes.len - 1; d >= 0; --d) {
    if (sizes.data[d] == 0) return true;
    if (sizes.data[d] != 1 && strides.data[d] != next) return false;
    next *= sizes.data[d];
  }
  return true;
}

template <class Ref>
void read_tensor(diopiConstTensorHandle_t handle, Ref& tensor) {
  diopiSize_t sizes{}, strides{};
  const void* data = nullptr;
  diopiGetTensorDataConst(handle, &data);
  diopiGetTensorShape(handle, &sizes);
  diopiGetTensorStride(handle, &strides);
  diopiGetTensorNumel(handle, &tensor.numel);
  diopiGetTensorDtype(handle, &tensor.dtype);
  tensor.data = const_cast<void*>(data);
  tensor.sizes = sizes.data;
  tensor.strides = strides.data;
  tensor.ndim = sizes.len;
  tensor.contiguous = is_row_major(sizes, strides);
}

inline void* stream_of(diopiContextHandle_t ctx) {
  diopiStreamHandle_t stream{};
  diopiGetStream(ctx, &stream);
  return reinterpret_cast<void*>(stream);
}

// DIOPI's own hosts provide no thread pool and no error slot.
inline const dl_host_t* host_of(diopiContextHandle_t) { return nullptr; }
inline dl_device_error_t* device_error_of(diopiContextHandle_t) { return nullptr; }

inline void read_generator(diopiGeneratorHandle_t generator, uint64_t* seed, uint64_t* offset) {
  diopiGeneratorGetSeedAndOffset(generator, seed, offset);
}

inline void write_generator(diopiGeneratorHandle_t generator, uint64_t seed, uint64_t offset) {
  diopiGeneratorSetSeedAndOffset(generator, seed, offset);
}

#else

template <class Ref>
inline
    __attribute__((always_inline)) void read_tensor(diopiConstTensorHandle_t handle, Ref& tensor) {
  const auto* prefix = reinterpret_cast<const dl_tensor_prefix_t*>(handle);
  tensor.data = prefix->data;
  tensor.sizes = prefix->sizes;
  tensor.strides = prefix->strides;
  tensor.ndim = prefix->ndim;
  tensor.numel = prefix->numel;
  tensor.dtype = static_cast<diopiDtype_t>(prefix->dtype);
  tensor.contiguous = (prefix->flags & DL_TENSOR_CONTIGUOUS) != 0;
}

inline void* stream_of(diopiContextHandle_t ctx) {
  return reinterpret_cast<const dl_context_prefix_t*>(ctx)->stream;
}

inline const dl_host_t* host_of(diopiContextHandle_t ctx) {
  return reinterpret_cast<const dl_context_prefix_t*>(ctx)->host;
}

inline dl_device_error_t* device_error_of(diopiContextHandle_t ctx) {
  return dl_context_device_error(ctx);
}

inline void read_generator(diopiGeneratorHandle_t generator, uint64_t* seed, uint64_t* offset) {
  const auto* prefix = reinterpret_cast<const dl_generator_prefix_t*>(generator);
  *seed = prefix->seed;
  *offset = prefix->offset;
}

inline void write_generator(diopiGeneratorHandle_t generator, uint64_t, uint64_t offset) {
  reinterpret_cast<dl_generator_prefix_t*>(generator)->offset = offset;
}

#endif

DL_KERNELS_END

#endif  // DL_KERNELS_BASE_HANDLES_H_
