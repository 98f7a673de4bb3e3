/* The driver, as the vendor uses it: device memory, in-order queues and fences.
 *
 * This interface and driver.c stand in for your driver. Replace the calls in vendor.*, or implement
 * these functions with your driver's, whichever is shorter. Every function may be called from any
 * thread. Functions named `enqueue` do not wait. */
#ifndef DRIVER_H_
#define DRIVER_H_

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  DRIVER_OK = 0,
  DRIVER_OUT_OF_MEMORY = 1,
  DRIVER_OUT_OF_RESOURCES = 2,
} driver_result_t;

typedef struct driver_queue driver_queue_t;
typedef struct driver_fence driver_fence_t;

const char* driver_text(driver_result_t result);

int driver_device_count(void);
/* Waits until all work that was enqueued on the device has finished. */
driver_result_t driver_finish(int device);

/* Memory of a device; the host cannot access it. */
driver_result_t driver_allocate(int device, size_t bytes, void** memory);
driver_result_t driver_free(int device, void* memory);
driver_result_t driver_memory_info(int device, size_t* free_bytes, size_t* total_bytes);

/* A queue executes its work in order, and concurrently with other queues. Work that is enqueued
 * when a queue is released still executes. */
driver_result_t driver_create_queue(int device, driver_queue_t** queue);
void driver_release_queue(driver_queue_t* queue);
/* True if all work of the queue has finished. */
bool driver_is_idle(driver_queue_t* queue);

/* Host memory must stay valid until the copy has finished. */
driver_result_t driver_enqueue_copy(driver_queue_t* queue, void* to, const void* from,
                                    size_t bytes);
driver_result_t driver_enqueue_fill(driver_queue_t* queue, void* memory, int byte, size_t bytes);
/* Arguments are copied. */
driver_result_t driver_enqueue_kernel(driver_queue_t* queue, void (*kernel)(const void*),
                                      const void* arguments, size_t bytes);
/* The fence is signaled when all work before it has finished. The caller releases it once. */
driver_result_t driver_enqueue_fence(driver_queue_t* queue, driver_fence_t** fence);
/* Work that is enqueued later executes after the fence, which may belong to another queue. */
driver_result_t driver_enqueue_wait(driver_queue_t* queue, driver_fence_t* fence);

void driver_wait(driver_fence_t* fence);
bool driver_is_signaled(driver_fence_t* fence);
/* Time of a signaled fence on the device's clock. */
double driver_milliseconds(driver_fence_t* fence);
void driver_release_fence(driver_fence_t* fence);

#ifdef __cplusplus
}
#endif

#endif /* DRIVER_H_ */
