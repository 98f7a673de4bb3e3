/* A complete vendor in C11: host memory, no streams, two operators. Hosts replace, or do without,
 * the slots that it leaves out; docs/vendor.md of dl-diopi-proto lists them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dl/operator.h"

enum { kMostDimensions = 16 };

/* An instance begins with its table; other fields are the vendor's own. No data is in static
 * variables, so that several hosts can use the library in one process. */
typedef struct {
  dl_vendor_t base;
  int64_t grain; /* least number of elements per thread */
} instance_t;

static _Thread_local char last_message[160];

/* Errors of slots. These statuses live as long as the library, so releasing one does nothing. */
static void keep(dl_status_t* status) { (void)status; }
static dl_status_t no_device = {.struct_size = sizeof(dl_status_t),
                                .code = DL_INVALID_ARGUMENT,
                                .message = "the only device is device 0",
                                .release = keep};
static dl_status_t no_memory = {.struct_size = sizeof(dl_status_t),
                                .code = DL_OUT_OF_MEMORY,
                                .message = "host memory is exhausted",
                                .operation = "aligned_alloc",
                                .release = keep};

/* The slots. */

static void destroy(dl_vendor_t* vendor) { free(vendor); }

static dl_status_t* device_count(dl_vendor_t* vendor, int32_t* count) {
  (void)vendor;
  *count = 1;
  return NULL;
}

static dl_status_t* memory_allocate(dl_vendor_t* vendor, int32_t device, uint64_t bytes,
                                    void** memory) {
  (void)vendor;
  if (device != 0) return &no_device;
  void* block = bytes > SIZE_MAX - 63 ? NULL : aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (block == NULL) return &no_memory;
  *memory = block;
  return NULL;
}

static dl_status_t* memory_free(dl_vendor_t* vendor, int32_t device, void* memory) {
  (void)vendor;
  (void)device;
  free(memory);
  return NULL;
}

static dl_status_t* memory_copy(dl_vendor_t* vendor, int32_t device, void* destination,
                                const void* source, uint64_t bytes, int32_t kind, void* stream) {
  (void)vendor;
  (void)kind;
  (void)stream;
  if (device != 0) return &no_device;
  memmove(destination, source, bytes);
  return NULL;
}

static const char* last_error(dl_vendor_t* vendor) {
  (void)vendor;
  return last_message;
}

/* The operators. */

typedef struct {
  float* data;
  int64_t strides[kMostDimensions]; /* by dimension of the output; 0 for broadcast dimensions */
} operand_t;

typedef struct {
  int64_t ndim;
  const int64_t* sizes;
  operand_t out, input, other;
  float alpha;
} work_t;

/* Describe a tensor in the output's dimensions. Unsupported arguments are declined, so that the
 * host runs the operator elsewhere; invalid ones are an error with a message. */
static diopiError_t describe(diopiConstTensorHandle_t tensor, const work_t* work,
                             operand_t* operand) {
  diopiDtype_t dtype;
  diopiSize_t sizes, strides;
  void* storage;
  int64_t offset;
  if (diopiGetTensorDtype(tensor, &dtype) != diopiSuccess ||
      diopiGetTensorShape(tensor, &sizes) != diopiSuccess ||
      diopiGetTensorStride(tensor, &strides) != diopiSuccess ||
      diopiGetTensorStoragePtr(tensor, &storage) != diopiSuccess ||
      diopiGetTensorStorageOffset(tensor, &offset) != diopiSuccess) {
    snprintf(last_message, sizeof last_message, "a handle is not a tensor");
    return diopiErrorOccurred;
  }
  if (dtype != diopi_dtype_float32) return diopiDtypeNotSupported;
  if (sizes.len > work->ndim || work->ndim > kMostDimensions) return diopiNoImplement;
  operand->data = (float*)storage + offset;
  memset(operand->strides, 0, sizeof operand->strides);
  const int64_t missing = work->ndim - sizes.len;
  for (int64_t d = 0; d < sizes.len; ++d) {
    if (sizes.data[d] == work->sizes[missing + d]) {
      operand->strides[missing + d] = strides.data[d];
    } else if (sizes.data[d] != 1) {
      return diopiNoImplement;
    }
  }
  return diopiSuccess;
}

static float* element(const work_t* work, const operand_t* operand, int64_t index) {
  float* found = operand->data;
  for (int64_t d = work->ndim - 1; d >= 0; --d) {
    found += index % work->sizes[d] * operand->strides[d];
    index /= work->sizes[d];
  }
  return found;
}

static void relu(void* argument, int64_t begin, int64_t end) {
  const work_t* work = (const work_t*)argument;
  for (int64_t i = begin; i < end; ++i) {
    const float x = *element(work, &work->input, i);
    *element(work, &work->out, i) = x < 0 ? 0 : x; /* nan stays nan */
  }
}

static void add(void* argument, int64_t begin, int64_t end) {
  const work_t* work = (const work_t*)argument;
  for (int64_t i = begin; i < end; ++i) {
    const float product = work->alpha * *element(work, &work->other, i);
    *element(work, &work->out, i) = *element(work, &work->input, i) + product;
  }
}

/* Describe the operands, then run `body` on the host's threads if it has any. */
static diopiError_t run(diopiContextHandle_t ctx, dl_range_fn body, work_t* work,
                        diopiTensorHandle_t out, diopiConstTensorHandle_t input,
                        diopiConstTensorHandle_t other) {
  diopiSize_t sizes;
  int64_t count;
  last_message[0] = '\0';
  if (diopiGetTensorShape(out, &sizes) != diopiSuccess ||
      diopiGetTensorNumel(out, &count) != diopiSuccess) {
    snprintf(last_message, sizeof last_message, "the output is not a tensor");
    return diopiErrorOccurred;
  }
  work->ndim = sizes.len;
  work->sizes = sizes.data;
  diopiError_t code = describe(out, work, &work->out);
  if (code == diopiSuccess) code = describe(input, work, &work->input);
  if (code == diopiSuccess && other != NULL) code = describe(other, work, &work->other);
  if (code != diopiSuccess) return code;
  const instance_t* instance = (const instance_t*)dl_context_vendor(ctx);
  const dl_host_t* host = dl_context_host(ctx);
  if (DL_HAS_FIELD(host, dl_host_t, parallel_for) && host->parallel_for != NULL &&
      host->parallel_for(host, 0, count, instance->grain, body, work) == DL_OK) {
    return diopiSuccess;
  }
  body(work, 0, count);
  return diopiSuccess;
}

diopiError_t diopiRelu(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                       diopiConstTensorHandle_t input) {
  work_t work;
  return run(ctx, relu, &work, out, input, NULL);
}

diopiError_t diopiAdd(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input, diopiConstTensorHandle_t other,
                      const diopiScalar_t* alpha) {
  work_t work;
  const int is_float = alpha->stype == diopi_dtype_float64 || alpha->stype == diopi_dtype_float32;
  work.alpha = is_float ? (float)alpha->fval : (float)alpha->ival;
  return run(ctx, add, &work, out, input, other);
}

/* Fingerprints identify the signatures of this build: hosts bind only equal ones. */
static const dl_operator_t kOperators[] = {DL_C_OPERATOR(diopiAdd), DL_C_OPERATOR(diopiRelu)};

static dl_status_t* operators(dl_vendor_t* vendor, const dl_operator_t** first, uint64_t* count) {
  (void)vendor;
  *first = kOperators;
  *count = sizeof kOperators / sizeof kOperators[0];
  return NULL;
}

/* The table. Other slots are NULL: not supported. */
static const dl_vendor_table_t kTable = {
    .struct_size = sizeof(dl_vendor_table_t),
    .name = "minimal",
    .version = "0.1.0",
    .capabilities = DL_CAP_HOST_ACCESSIBLE | DL_CAP_SYNCHRONOUS | DL_CAP_ANY_HOST_POINTER,
    .destroy = destroy,
    .device_count = device_count,
    .memory_allocate = memory_allocate,
    .memory_free = memory_free,
    .memory_copy = memory_copy,
    .operators = operators,
    .last_error = last_error,
};

/* The one exported symbol. */
DL_EXPORT dl_status_t* dl_vendor_v1(const dl_host_t* host, dl_vendor_t** out) {
  (void)host; /* outlives the instance; operators find it in their context */
  instance_t* instance = (instance_t*)calloc(1, sizeof *instance);
  if (instance == NULL) return &no_memory;
  instance->base.table = &kTable;
  instance->grain = 4096;
  *out = &instance->base;
  return NULL;
}
