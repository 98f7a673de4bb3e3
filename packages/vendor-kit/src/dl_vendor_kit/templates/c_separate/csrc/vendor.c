/* The vendor table of a device with memory of its own and asynchronous queues (driver.h).
 *
 * A stream is a queue of the driver. An event is the fence that was enqueued when the event was
 * last recorded. docs/vendor.md of dl-diopi-proto lists all slots. */
#include "vendor.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

/* An instance begins with its table. Nothing is stored in static variables, so that several hosts
 * can live in one process. */
typedef struct {
  dl_vendor_t base;
  pthread_mutex_t mutex;
  driver_queue_t* default_queue; /* created on first use */
} instance_t;

typedef struct {
  driver_fence_t* fence; /* NULL: never recorded */
} event_t;

static void release(dl_status_t* status) { free(status); }
static void keep(dl_status_t* status) { (void)status; }
static dl_status_t no_host_memory = {.struct_size = sizeof(dl_status_t),
                                     .code = DL_OUT_OF_MEMORY,
                                     .message = "no host memory is left",
                                     .operation = "malloc",
                                     .release = keep};

/* Create an error. `message` and `operation` are literals. */
static dl_status_t* failure(dl_code_t code, const char* message, const char* operation) {
  dl_status_t* status = (dl_status_t*)calloc(1, sizeof *status);
  if (status == NULL) return &no_host_memory;
  status->struct_size = sizeof *status;
  status->code = code;
  status->message = message;
  status->operation = operation;
  status->release = release;
  return status;
}

static dl_status_t* checked(driver_result_t result, const char* operation) {
  if (result == DRIVER_OK) return NULL;
  const bool is_memory = result == DRIVER_OUT_OF_MEMORY;
  return failure(is_memory ? DL_OUT_OF_MEMORY : DL_ERROR, driver_text(result), operation);
}

static dl_status_t* check_device(int32_t device) {
  if (device >= 0 && device < driver_device_count()) return NULL;
  return failure(DL_INVALID_ARGUMENT, "the device does not exist", NULL);
}

/* Find the queue of a stream; NULL is the default stream. */
static dl_status_t* find_queue(dl_vendor_t* vendor, void* stream, driver_queue_t** queue) {
  instance_t* instance = (instance_t*)vendor;
  driver_result_t result = DRIVER_OK;
  if (stream == NULL) {
    pthread_mutex_lock(&instance->mutex);
    if (instance->default_queue == NULL) result = driver_create_queue(0, &instance->default_queue);
    stream = instance->default_queue;
    pthread_mutex_unlock(&instance->mutex);
  }
  *queue = (driver_queue_t*)stream;
  return checked(result, "driver_create_queue");
}

static void destroy(dl_vendor_t* vendor) {
  instance_t* instance = (instance_t*)vendor;
  if (instance->default_queue != NULL) driver_release_queue(instance->default_queue);
  pthread_mutex_destroy(&instance->mutex);
  free(instance);
}

/* Devices. */

static dl_status_t* device_count(dl_vendor_t* vendor, int32_t* count) {
  (void)vendor;
  *count = driver_device_count();
  return NULL;
}

static dl_status_t* device_properties(dl_vendor_t* vendor, int32_t device,
                                      dl_device_properties_t* properties) {
  (void)vendor;
  size_t free_bytes = 0, total_bytes = 0;
  dl_status_t* status = check_device(device);
  if (status == NULL) {
    status = checked(driver_memory_info(device, &free_bytes, &total_bytes), "driver_memory_info");
  }
  if (status != NULL) return status;
  /* A host that was compiled against a shorter struct gets the fields that it knows. */
  dl_device_properties_t all = {.struct_size = properties->struct_size,
                                .name = "__chip__ (stand-in)",
                                .total_memory = total_bytes,
                                .dtype_mask = UINT64_C(1) << diopi_dtype_float32};
  memcpy(properties, &all, all.struct_size < sizeof all ? all.struct_size : sizeof all);
  return NULL;
}

static dl_status_t* device_synchronize(dl_vendor_t* vendor, int32_t device) {
  (void)vendor;
  dl_status_t* status = check_device(device);
  return status != NULL ? status : checked(driver_finish(device), "driver_finish");
}

/* Memory. */

static dl_status_t* memory_allocate(dl_vendor_t* vendor, int32_t device, uint64_t bytes,
                                    void** memory) {
  (void)vendor;
  dl_status_t* status = check_device(device);
  return status != NULL ? status
                        : checked(driver_allocate(device, bytes, memory), "driver_allocate");
}

static dl_status_t* memory_free(dl_vendor_t* vendor, int32_t device, void* memory) {
  (void)vendor;
  dl_status_t* status = check_device(device);
  return status != NULL ? status : checked(driver_free(device, memory), "driver_free");
}

static dl_status_t* memory_info(dl_vendor_t* vendor, int32_t device, uint64_t* free_bytes,
                                uint64_t* total_bytes) {
  (void)vendor;
  size_t available = 0, total = 0;
  dl_status_t* status = check_device(device);
  if (status == NULL) {
    status = checked(driver_memory_info(device, &available, &total), "driver_memory_info");
  }
  *free_bytes = available;
  *total_bytes = total;
  return status;
}

/* Wait for all work that the queue has now. */
static dl_status_t* finish_queue(driver_queue_t* queue) {
  driver_fence_t* fence = NULL;
  const driver_result_t result = driver_enqueue_fence(queue, &fence);
  if (result != DRIVER_OK) return checked(result, "driver_enqueue_fence");
  driver_wait(fence);
  driver_release_fence(fence);
  return NULL;
}

/* The host may reuse or read its side of a copy when this returns. A driver that has page-locked
 * memory can return earlier for it: add the slots host_allocate and host_free. */
static dl_status_t* memory_copy(dl_vendor_t* vendor, int32_t device, void* destination,
                                const void* source, uint64_t bytes, int32_t kind, void* stream) {
  driver_queue_t* queue = NULL;
  dl_status_t* status = check_device(device);
  if (status == NULL) status = find_queue(vendor, stream, &queue);
  if (status != NULL || bytes == 0) return status;
  status = checked(driver_enqueue_copy(queue, destination, source, bytes), "driver_enqueue_copy");
  if (status != NULL || kind == DL_COPY_DEVICE_TO_DEVICE) return status;
  return finish_queue(queue);
}

static dl_status_t* memory_set(dl_vendor_t* vendor, int32_t device, void* memory, int32_t value,
                               uint64_t bytes, void* stream) {
  driver_queue_t* queue = NULL;
  dl_status_t* status = check_device(device);
  if (status == NULL) status = find_queue(vendor, stream, &queue);
  if (status != NULL) return status;
  return checked(driver_enqueue_fill(queue, memory, value, bytes), "driver_enqueue_fill");
}

/* Streams. */

static dl_status_t* stream_create(dl_vendor_t* vendor, int32_t device, int32_t priority,
                                  void** stream) {
  (void)vendor;
  (void)priority; /* this driver has no priorities */
  driver_queue_t* queue = NULL;
  dl_status_t* status = check_device(device);
  if (status == NULL) status = checked(driver_create_queue(device, &queue), "driver_create_queue");
  if (status == NULL) *stream = queue;
  return status;
}

static dl_status_t* stream_destroy(dl_vendor_t* vendor, int32_t device, void* stream) {
  (void)vendor;
  dl_status_t* status = check_device(device);
  if (status == NULL) driver_release_queue((driver_queue_t*)stream);
  return status;
}

static dl_status_t* stream_synchronize(dl_vendor_t* vendor, int32_t device, void* stream) {
  driver_queue_t* queue = NULL;
  dl_status_t* status = check_device(device);
  if (status == NULL) status = find_queue(vendor, stream, &queue);
  return status != NULL ? status : finish_queue(queue);
}

static dl_status_t* stream_query(dl_vendor_t* vendor, int32_t device, void* stream,
                                 int32_t* finished) {
  driver_queue_t* queue = NULL;
  dl_status_t* status = check_device(device);
  if (status == NULL) status = find_queue(vendor, stream, &queue);
  if (status == NULL) *finished = driver_is_idle(queue);
  return status;
}

static dl_status_t* stream_wait_event(dl_vendor_t* vendor, int32_t device, void* stream,
                                      void* event) {
  driver_queue_t* queue = NULL;
  driver_fence_t* fence = ((event_t*)event)->fence;
  dl_status_t* status = check_device(device);
  if (status == NULL) status = find_queue(vendor, stream, &queue);
  if (status != NULL || fence == NULL) return status;
  return checked(driver_enqueue_wait(queue, fence), "driver_enqueue_wait");
}

/* Events. */

static dl_status_t* event_create(dl_vendor_t* vendor, int32_t device, uint64_t flags,
                                 void** event) {
  (void)vendor;
  (void)flags; /* fences of this driver always have a time; see DL_EVENT_TIMING */
  dl_status_t* status = check_device(device);
  if (status != NULL) return status;
  event_t* made = (event_t*)calloc(1, sizeof *made);
  if (made == NULL) return &no_host_memory;
  *event = made;
  return NULL;
}

static dl_status_t* event_destroy(dl_vendor_t* vendor, int32_t device, void* handle) {
  (void)vendor;
  event_t* event = (event_t*)handle;
  dl_status_t* status = check_device(device);
  if (status != NULL) return status;
  if (event->fence != NULL) driver_release_fence(event->fence);
  free(event);
  return NULL;
}

static dl_status_t* event_record(dl_vendor_t* vendor, int32_t device, void* handle, void* stream) {
  event_t* event = (event_t*)handle;
  driver_queue_t* queue = NULL;
  driver_fence_t* fence = NULL;
  dl_status_t* status = check_device(device);
  if (status == NULL) status = find_queue(vendor, stream, &queue);
  if (status == NULL) {
    status = checked(driver_enqueue_fence(queue, &fence), "driver_enqueue_fence");
  }
  if (status != NULL) return status;
  /* Waits that were enqueued before still wait for the fence that they got. */
  if (event->fence != NULL) driver_release_fence(event->fence);
  event->fence = fence;
  return NULL;
}

static dl_status_t* event_synchronize(dl_vendor_t* vendor, int32_t device, void* event) {
  (void)vendor;
  driver_fence_t* fence = ((event_t*)event)->fence;
  dl_status_t* status = check_device(device);
  if (status == NULL && fence != NULL) driver_wait(fence);
  return status;
}

static dl_status_t* event_query(dl_vendor_t* vendor, int32_t device, void* event,
                                int32_t* finished) {
  (void)vendor;
  driver_fence_t* fence = ((event_t*)event)->fence;
  dl_status_t* status = check_device(device);
  if (status == NULL) *finished = fence == NULL || driver_is_signaled(fence);
  return status;
}

static dl_status_t* event_elapsed(dl_vendor_t* vendor, int32_t device, void* start, void* end,
                                  double* milliseconds) {
  (void)vendor;
  driver_fence_t *first = ((event_t*)start)->fence, *last = ((event_t*)end)->fence;
  dl_status_t* status = check_device(device);
  if (status != NULL) return status;
  if (first == NULL || last == NULL || !driver_is_signaled(first) || !driver_is_signaled(last)) {
    return failure(DL_INVALID_ARGUMENT, "an event was not recorded or is not finished", NULL);
  }
  *milliseconds = driver_milliseconds(last) - driver_milliseconds(first);
  return NULL;
}

/* Operators. */

diopiError_t launch(diopiContextHandle_t ctx, void (*kernel)(const void*), const void* arguments,
                    size_t bytes) {
  driver_queue_t* queue = NULL;
  dl_status_t* status = find_queue(dl_context_vendor(ctx), dl_context_stream(ctx), &queue);
  if (status == NULL) {
    status = checked(driver_enqueue_kernel(queue, kernel, arguments, bytes), "enqueue_kernel");
  }
  if (status == NULL) return diopiSuccess;
  refuse(diopiErrorOccurred, status->message);
  status->release(status);
  return diopiErrorOccurred;
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
    .destroy = destroy,
    .device_count = device_count,
    .device_properties = device_properties,
    .device_synchronize = device_synchronize,
    .memory_allocate = memory_allocate,
    .memory_free = memory_free,
    .memory_info = memory_info,
    .memory_copy = memory_copy,
    .memory_set = memory_set,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_synchronize = stream_synchronize,
    .stream_query = stream_query,
    .stream_wait_event = stream_wait_event,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_synchronize = event_synchronize,
    .event_query = event_query,
    .event_elapsed = event_elapsed,
    .operators = operators,
    .last_error = last_error,
};

/* The library's only exported symbol. It must not touch the driver. */
DL_EXPORT dl_status_t* dl_vendor_v1(const dl_host_t* host, dl_vendor_t** out) {
  (void)host;
  instance_t* instance = (instance_t*)calloc(1, sizeof *instance);
  if (instance == NULL) return &no_host_memory;
  instance->base.table = &kTable;
  pthread_mutex_init(&instance->mutex, NULL);
  *out = &instance->base;
  return NULL;
}
