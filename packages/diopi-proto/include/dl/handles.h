/* Layout of the three handles that a host passes to operators: context, tensor and generator.
 *
 * Each handle points to a struct that begins with the prefix below; the host may append fields of
 * its own after it. Vendors treat handles as opaque and use the getters of diopi/diopirt.h. These
 * are inline functions that read the prefix, so that a vendor library loads without ours.
 *
 * The layout is frozen and append-only (tests/abi). A reader accepts any version >= the one it was
 * compiled for; fields are never moved, repurposed or removed. */
#ifndef DL_HANDLES_H_
#define DL_HANDLES_H_

#include "diopi/types.gen.h"
#include "dl/base.h"
#include "dl/device_error.h"
#include "dl/host.h"

DL_EXTERN_C_BEGIN

#define DL_TENSOR_MAGIC 0x54696c64u    /* "dliT" */
#define DL_CONTEXT_MAGIC 0x43696c64u   /* "dliC" */
#define DL_GENERATOR_MAGIC 0x47696c64u /* "dliG" */
#define DL_PREFIX_VERSION 1u

/* Functions that the host offers to a running operator. Only the thread that runs the operator may
 * call them, and only until the operator returns. NULL slots mean "not supported". */
typedef struct dl_handle_ops {
  uint64_t struct_size;
  /* Allocate a tensor that lives until the context dies; its memory is reused only in stream order.
   * `stride` NULL means contiguous. Strides count elements. */
  diopiError_t (*require_tensor)(diopiContextHandle_t ctx, diopiTensorHandle_t* tensor,
                                 const diopiSize_t* size, const diopiSize_t* stride,
                                 diopiDtype_t dtype, diopiDevice_t device);
  /* As require_tensor: a one-dimensional uint8 tensor of `num_bytes` elements. */
  diopiError_t (*require_buffer)(diopiContextHandle_t ctx, diopiTensorHandle_t* tensor,
                                 int64_t num_bytes, diopiDevice_t device);
  /* The opaque state as a one-dimensional uint8 host tensor owned by `ctx`. */
  diopiError_t (*generator_get_state)(diopiContextHandle_t ctx,
                                      diopiConstGeneratorHandle_t generator,
                                      diopiTensorHandle_t* state);
  diopiError_t (*generator_set_state)(diopiGeneratorHandle_t generator,
                                      diopiConstTensorHandle_t state);
  /* Named ranges for profilers. `record` is the host's, opaque to the vendor. */
  diopiError_t (*record_start)(diopiContextHandle_t ctx, const char* name, void** record);
  diopiError_t (*record_end)(diopiContextHandle_t ctx, void** record);
  /* The device address of the error word of the context's stream; see dl/device_error.h. The host
   * reads the word when the stream is next synchronized after the operator has returned. NULL if
   * there is no error word: the operator then checks the data itself and fails at once. */
  diopiError_t (*device_error)(diopiContextHandle_t ctx, dl_device_error_t** word);
  /* append new functions here, never reorder */
} dl_handle_ops_t;

typedef struct dl_tensor_prefix {
  uint32_t magic;
  uint32_t version;
  const dl_handle_ops_t* ops;
  void* data;             /* address of element 0: storage + storage_offset elements */
  void* storage;          /* start of the memory block that the tensor views */
  int64_t storage_offset; /* elements */
  int64_t storage_bytes;
  const int64_t* sizes;   /* ndim values; these and the strides live as long as the handle */
  const int64_t* strides; /* ndim values, in elements; may be 0 (broadcast), never negative */
  int64_t ndim;
  int64_t numel;
  int32_t dtype;                               /* diopiDtype_t */
  int32_t device;                              /* diopiDevice_t */
  int32_t device_index;                        /* the vendor's own numbering */
  uint32_t flags;                              /* DL_TENSOR_* */
  const struct dl_tensor_prefix* crow_indices; /* the CSR parts; NULL unless DL_TENSOR_SPARSE_CSR */
  const struct dl_tensor_prefix* col_indices;
  const struct dl_tensor_prefix* values;
  uint64_t private_format; /* valid only with DL_TENSOR_PRIVATE_FORMAT; see dl/format.h */
} dl_tensor_prefix_t;

/* Bits of dl_tensor_prefix_t.flags. Unknown bits are zero. */
#define DL_TENSOR_SPARSE_CSR (1u << 0)
#define DL_TENSOR_CONTIGUOUS (1u << 1)     /* row-major without gaps; computed by the host */
#define DL_TENSOR_PRIVATE_FORMAT (1u << 2) /* the vendor defines the order of the elements */

/* The order of a tensor's elements in memory, computed by dl_tensor_format in dl/format.h. */
typedef enum {
  DL_FORMAT_STRIDED = 0,          /* none of the following */
  DL_FORMAT_CONTIGUOUS = 1,       /* row-major without gaps */
  DL_FORMAT_CHANNELS_LAST = 2,    /* four dimensions NCHW, in memory NHWC without gaps */
  DL_FORMAT_CHANNELS_LAST_3D = 3, /* five dimensions NCDHW, in memory NDHWC without gaps */
  DL_FORMAT_PRIVATE = 4,          /* the vendor's own; see dl_tensor_private_format */
} dl_format_t;

typedef struct dl_context_prefix {
  uint32_t magic;
  uint32_t version;
  const dl_handle_ops_t* ops;
  void* stream; /* as the vendor's stream_create returned it; NULL = the device's default stream */
  int32_t device_index; /* the vendor's own numbering */
  uint32_t flags;       /* zero */
  const dl_host_t* host;
  struct dl_vendor* vendor; /* the instance that serves the call; NULL for legacy libraries */
} dl_context_prefix_t;

/* Philox4x32-10 (Salmon et al., 2011) with key = seed. `offset` is the number of 128-bit counter
 * values already consumed: an operator that draws n of them reads seed and offset, uses counters
 * offset … offset+n-1 and stores offset+n. The same seed and offset give the same numbers on every
 * vendor: docs/random.md defines which element uses which part of the stream, and how. The host
 * locks the generator during the call. */
typedef struct dl_generator_prefix {
  uint32_t magic;
  uint32_t version;
  const dl_handle_ops_t* ops;
  uint64_t seed;
  uint64_t offset;
  int32_t device_index;
  uint32_t flags; /* zero */
} dl_generator_prefix_t;

DL_EXTERN_C_END
#endif
