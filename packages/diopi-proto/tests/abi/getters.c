/* Tests of the inline getters for valid and invalid handles. The exit status is the line of the
 * failed check. */
#include <string.h>

#include "diopi/diopirt.h"
#include "dl/context.h"

DL_DEFINE_CURRENT_CONTEXT;

#define CHECK(condition) \
  if (!(condition)) return __LINE__

static const int64_t kSizes[] = {2, 3};
static const int64_t kStrides[] = {3, 1};
static float storage[8];
static struct diopiTensor* const kRequired = (struct diopiTensor*)&storage[1];
static void* recorded;

static diopiError_t require_tensor(diopiContextHandle_t ctx, diopiTensorHandle_t* tensor,
                                   const diopiSize_t* size, const diopiSize_t* stride,
                                   diopiDtype_t dtype, diopiDevice_t device) {
  if (ctx == NULL || size->len != 2 || stride != NULL) return diopiErrorOccurred;
  if (dtype != diopi_dtype_bfloat16 || device != diopi_device) return diopiErrorOccurred;
  *tensor = kRequired;
  return diopiSuccess;
}

static diopiError_t require_buffer(diopiContextHandle_t ctx, diopiTensorHandle_t* tensor,
                                   int64_t num_bytes, diopiDevice_t device) {
  if (ctx == NULL || num_bytes != 24 || device != diopi_host) return diopiErrorOccurred;
  *tensor = kRequired;
  return diopiSuccess;
}

static diopiError_t record_start(diopiContextHandle_t ctx, const char* name, void** record) {
  recorded = ctx;
  *record = (void*)name;
  return diopiSuccess;
}

static dl_handle_ops_t ops(void) {
  dl_handle_ops_t table;
  memset(&table, 0, sizeof table);
  table.struct_size = sizeof table;
  table.require_tensor = require_tensor;
  table.require_buffer = require_buffer;
  table.record_start = record_start;
  return table;
}

static dl_tensor_prefix_t tensor_prefix(void) {
  dl_tensor_prefix_t tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.magic = DL_TENSOR_MAGIC;
  tensor.version = DL_PREFIX_VERSION;
  tensor.data = &storage[2];
  tensor.storage = storage;
  tensor.storage_offset = 2;
  tensor.storage_bytes = sizeof storage;
  tensor.sizes = kSizes;
  tensor.strides = kStrides;
  tensor.ndim = 2;
  tensor.numel = 6;
  tensor.dtype = diopi_dtype_float32;
  tensor.device = diopi_device;
  tensor.device_index = 3;
  return tensor;
}

static int tensors(void) {
  dl_tensor_prefix_t prefix = tensor_prefix();
  diopiTensorHandle_t tensor = (diopiTensorHandle_t)&prefix;
  void* data = NULL;
  const void* constant = NULL;
  diopiSize_t size = {NULL, 0};
  diopiDtype_t dtype = diopi_dtype_unsupported;
  diopiDevice_t device = diopi_host;
  diopiDeviceIndex_t index = -1;
  int64_t number = 0;
  size_t bytes = 0;
  bool sparse = true;
  diopiConstTensorHandle_t part = NULL;
  CHECK(diopiGetTensorData(tensor, &data) == diopiSuccess && data == &storage[2]);
  CHECK(diopiGetTensorDataConst(tensor, &constant) == diopiSuccess && constant == &storage[2]);
  CHECK(diopiGetTensorShape(tensor, &size) == diopiSuccess && size.data == kSizes && size.len == 2);
  CHECK(diopiGetTensorStride(tensor, &size) == diopiSuccess && size.data == kStrides &&
        size.len == 2);
  CHECK(diopiGetTensorDtype(tensor, &dtype) == diopiSuccess && dtype == diopi_dtype_float32);
  CHECK(diopiGetTensorDevice(tensor, &device) == diopiSuccess && device == diopi_device);
  CHECK(diopiGetTensorDeviceIndex(tensor, &index) == diopiSuccess && index == 3);
  CHECK(diopiGetTensorNumel(tensor, &number) == diopiSuccess && number == 6);
  CHECK(diopiGetTensorElemSize(tensor, &number) == diopiSuccess && number == 4);
  CHECK(diopiGetTensorStoragePtr(tensor, &data) == diopiSuccess && data == storage);
  CHECK(diopiGetTensorStorageOffset(tensor, &number) == diopiSuccess && number == 2);
  CHECK(diopiGetTensorStorageNbytes(tensor, &bytes) == diopiSuccess && bytes == sizeof storage);
  CHECK(diopiIsTensorSparse(tensor, &sparse) == diopiSuccess && !sparse);
  CHECK(diopiGetTensorValues(tensor, &part) == diopiErrorOccurred && part == NULL);
  prefix.flags = DL_TENSOR_SPARSE_CSR;
  prefix.crow_indices = &prefix;
  CHECK(diopiIsTensorSparse(tensor, &sparse) == diopiSuccess && sparse);
  CHECK(diopiGetTensorCrowIndices(tensor, &part) == diopiSuccess && part == tensor);
  CHECK(diopiGetTensorColIndices(tensor, &part) == diopiSuccess && part == NULL);
  prefix.dtype = diopi_dtype_complex128;
  CHECK(diopiGetTensorElemSize(tensor, &number) == diopiSuccess && number == 16);
  prefix.dtype = 77;
  CHECK(diopiGetTensorElemSize(tensor, &number) == diopiErrorOccurred && number == 16);
  return 0;
}

/* Nothing is written through a handle that is NULL, foreign or too old; a newer one is fine. */
static int bad_handles(void) {
  dl_tensor_prefix_t prefix = tensor_prefix();
  diopiTensorHandle_t tensor = (diopiTensorHandle_t)&prefix;
  int64_t number = -7;
  void* data = &number;
  CHECK(diopiGetTensorNumel(NULL, &number) == diopiErrorOccurred);
  prefix.magic = DL_CONTEXT_MAGIC;
  CHECK(diopiGetTensorNumel(tensor, &number) == diopiErrorOccurred);
  CHECK(diopiGetTensorData(tensor, &data) == diopiErrorOccurred && data == &number);
  prefix.magic = DL_TENSOR_MAGIC;
  prefix.version = 0;
  CHECK(diopiGetTensorNumel(tensor, &number) == diopiErrorOccurred && number == -7);
  prefix.version = DL_PREFIX_VERSION + 1;
  CHECK(diopiGetTensorNumel(tensor, &number) == diopiSuccess && number == 6);
  return 0;
}

static int32_t yes(const dl_host_t* host) {
  (void)host;
  return 1;
}

static int32_t unknown_precision(const dl_host_t* host) {
  (void)host;
  return 77;
}

/* The settings of the user, for a host that has them and for older hosts. */
static int settings(diopiContextHandle_t ctx, dl_host_t* host) {
  CHECK(dl_context_matmul_precision(ctx) == DL_MATMUL_FLOAT32);
  CHECK(dl_context_convolution_precision(ctx) == DL_MATMUL_FLOAT32);
  CHECK(!dl_context_deterministic(ctx) && !dl_context_deterministic(NULL));
  host->float32_matmul_precision = yes;
  CHECK(dl_context_matmul_precision(ctx) == DL_MATMUL_TF32);
  CHECK(dl_context_convolution_precision(ctx) == DL_MATMUL_FLOAT32);
  host->float32_convolution_precision = yes;
  host->deterministic = yes;
  CHECK(dl_context_convolution_precision(ctx) == DL_MATMUL_TF32 && dl_context_deterministic(ctx));
  CHECK(dl_context_convolution_precision(NULL) == DL_MATMUL_FLOAT32);
  host->struct_size = offsetof(dl_host_t, deterministic);
  CHECK(dl_context_convolution_precision(ctx) == DL_MATMUL_TF32 && !dl_context_deterministic(ctx));
  host->struct_size = offsetof(dl_host_t, float32_convolution_precision);
  CHECK(dl_context_matmul_precision(ctx) == DL_MATMUL_TF32);
  CHECK(dl_context_convolution_precision(ctx) == DL_MATMUL_FLOAT32);
  host->struct_size = sizeof *host;
  host->float32_matmul_precision = unknown_precision;
  CHECK(dl_context_matmul_precision(ctx) == DL_MATMUL_FLOAT32);
  return 0;
}

static int contexts(void) {
  dl_handle_ops_t table = ops();
  dl_context_prefix_t prefix;
  memset(&prefix, 0, sizeof prefix);
  prefix.magic = DL_CONTEXT_MAGIC;
  prefix.version = DL_PREFIX_VERSION;
  prefix.ops = &table;
  prefix.stream = storage;
  prefix.device_index = 5;
  diopiContextHandle_t ctx = (diopiContextHandle_t)&prefix;
  diopiSize_t size = {kSizes, 2};
  diopiTensorHandle_t tensor = NULL;
  diopiStreamHandle_t stream = NULL;
  diopiDeviceIndex_t index = -1;
  void* record = NULL;
  CHECK(diopiGetStream(ctx, &stream) == diopiSuccess && stream == storage);
  dl_host_t host = {.struct_size = sizeof host, .name = "getters"};
  dl_vendor_t vendor = {NULL};
  CHECK(dl_context_vendor(ctx) == NULL && dl_context_host(ctx) == NULL);
  prefix.host = &host;
  prefix.vendor = &vendor;
  CHECK(dl_context_vendor(ctx) == &vendor && dl_context_host(ctx) == &host);
  CHECK(dl_context_device(ctx) == 5 && dl_context_stream(ctx) == storage);
  CHECK(settings(ctx, &host) == 0);
  prefix.magic = DL_TENSOR_MAGIC;
  CHECK(dl_context_vendor(ctx) == NULL && dl_context_host(ctx) == NULL);
  CHECK(dl_context_device(ctx) == -1 && dl_context_stream(ctx) == NULL);
  prefix.magic = DL_CONTEXT_MAGIC;
  prefix.version = 0;
  CHECK(dl_context_vendor(ctx) == NULL && dl_context_device(ctx) == -1);
  prefix.version = DL_PREFIX_VERSION + 1;
  CHECK(dl_context_vendor(ctx) == &vendor && dl_context_vendor(NULL) == NULL);
  CHECK(diopiRequireTensor(ctx, &tensor, &size, NULL, diopi_dtype_bfloat16, diopi_device) ==
        diopiSuccess);
  CHECK(tensor == kRequired);
  CHECK(diopiRequireBuffer(ctx, &tensor, 24, diopi_host) == diopiSuccess);
  /* Without a current context, and with one. */
  CHECK(diopiGetCurrentDeviceIndex(&index) == diopiErrorOccurred && index == -1);
  CHECK(diopiRecordStart("range", &record) == diopiErrorOccurred);
  dl_current_context = ctx;
  CHECK(diopiGetCurrentDeviceIndex(&index) == diopiSuccess && index == 5);
  CHECK(diopiRecordStart("range", &record) == diopiSuccess && recorded == ctx);
  CHECK(diopiRecordEnd(&record) == diopiNoImplement);
  dl_current_context = NULL;
  /* Hosts that predate a slot, leave it empty, or have no handle functions. */
  tensor = NULL;
  table.struct_size = offsetof(dl_handle_ops_t, require_buffer);
  CHECK(diopiRequireBuffer(ctx, &tensor, 24, diopi_host) == diopiNoImplement && tensor == NULL);
  CHECK(diopiRequireTensor(ctx, &tensor, &size, NULL, diopi_dtype_bfloat16, diopi_device) ==
        diopiSuccess);
  table.require_tensor = NULL;
  CHECK(diopiRequireTensor(ctx, &tensor, &size, NULL, diopi_dtype_bfloat16, diopi_device) ==
        diopiNoImplement);
  prefix.ops = NULL;
  CHECK(diopiRequireTensor(ctx, &tensor, &size, NULL, diopi_dtype_bfloat16, diopi_device) ==
        diopiNoImplement);
  CHECK(diopiRequireTensor(NULL, &tensor, &size, NULL, diopi_dtype_bfloat16, diopi_device) ==
        diopiErrorOccurred);
  return 0;
}

static int generators(void) {
  dl_generator_prefix_t prefix = {DL_GENERATOR_MAGIC, DL_PREFIX_VERSION, NULL, 11, 22, 0, 0};
  diopiGeneratorHandle_t generator = (diopiGeneratorHandle_t)&prefix;
  uint64_t seed = 0, offset = 0;
  diopiTensorHandle_t state = NULL;
  CHECK(diopiGeneratorGetSeedAndOffset(generator, &seed, &offset) == diopiSuccess && seed == 11 &&
        offset == 22);
  CHECK(diopiGeneratorSetSeedAndOffset(generator, 11, 26) == diopiSuccess && prefix.offset == 26);
  CHECK(diopiGeneratorGetState(NULL, generator, &state) == diopiNoImplement);
  CHECK(diopiGeneratorSetSeedAndOffset(NULL, 1, 2) == diopiErrorOccurred);
  prefix.magic = 0;
  CHECK(diopiGeneratorSetSeedAndOffset(generator, 1, 2) == diopiErrorOccurred && prefix.seed == 11);
  return 0;
}

int main(void) {
  int line = tensors();
  if (line == 0) line = bad_handles();
  if (line == 0) line = contexts();
  if (line == 0) line = generators();
  if (line == 0 && strcmp(diopiGetVersion(), "1.0.0") != 0) line = __LINE__;
  return line > 255 ? 255 : line;
}
