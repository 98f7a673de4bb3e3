/* The vendor table of a device that shares the memory of the host, and whose calls return when
 * their work is done. docs/vendor.md of dl-diopi-proto lists all slots; hosts do without those that
 * are NULL, or emulate them. */
#include "vendor.h"

#include <stdlib.h>
#include <string.h>

static void keep(dl_status_t* status) { (void)status; }
static dl_status_t no_device = {.struct_size = sizeof(dl_status_t),
                                .code = DL_INVALID_ARGUMENT,
                                .message = "the device does not exist; device 0 is the only one",
                                .release = keep};
static dl_status_t no_memory = {.struct_size = sizeof(dl_status_t),
                                .code = DL_OUT_OF_MEMORY,
                                .message = "the memory is exhausted",
                                .operation = "aligned_alloc",
                                .release = keep};

static void destroy(dl_vendor_t* vendor) { free(vendor); }

static dl_status_t* device_count(dl_vendor_t* vendor, int32_t* count) {
  (void)vendor;
  *count = 1;
  return NULL;
}

static dl_status_t* device_properties(dl_vendor_t* vendor, int32_t device,
                                      dl_device_properties_t* properties) {
  (void)vendor;
  if (device != 0) return &no_device;
  /* A host that was compiled against a shorter struct gets the fields that it knows. */
  dl_device_properties_t all = {.struct_size = properties->struct_size,
                                .name = "__chip__ (stand-in)",
                                .total_memory = UINT64_C(1) << 30,
                                .dtype_mask = UINT64_C(1) << diopi_dtype_float32};
  memcpy(properties, &all, all.struct_size < sizeof all ? all.struct_size : sizeof all);
  return NULL;
}

/* Replace these three by your driver's allocation of shared memory. */

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
  if (device != 0) return &no_device;
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

/* Replace this by a call of your driver that runs the kernel and waits for it. */
diopiError_t launch(diopiContextHandle_t ctx, void (*kernel)(const void*), const void* arguments,
                    size_t bytes) {
  (void)ctx;
  (void)bytes;
  kernel(arguments);
  return diopiSuccess;
}

static dl_status_t* operators(dl_vendor_t* vendor, const dl_operator_t** first, uint64_t* count) {
  (void)vendor;
  *first = vendor_operators;
  *count = vendor_operator_count;
  return NULL;
}

static const char* last_error(dl_vendor_t* vendor) {
  (void)vendor;
  return last_message();
}

static const dl_vendor_table_t kTable = {
    .struct_size = sizeof(dl_vendor_table_t),
    .name = "__chip__",
    .version = VENDOR_VERSION,
    .capabilities = DL_CAP_HOST_ACCESSIBLE | DL_CAP_SYNCHRONOUS | DL_CAP_ANY_HOST_POINTER,
    .destroy = destroy,
    .device_count = device_count,
    .device_properties = device_properties,
    .memory_allocate = memory_allocate,
    .memory_free = memory_free,
    .memory_copy = memory_copy,
    .operators = operators,
    .last_error = last_error,
};

/* The library's only exported symbol. */
DL_EXPORT dl_status_t* dl_vendor_v1(const dl_host_t* host, dl_vendor_t** out) {
  (void)host;
  dl_vendor_t* instance = (dl_vendor_t*)calloc(1, sizeof *instance);
  if (instance == NULL) return &no_memory;
  instance->table = &kTable;
  *out = instance;
  return NULL;
}
