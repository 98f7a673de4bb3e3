/* A stand-in for the chip's SDK, over the stand-in driver of driver.*. */
#include "sdk.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "kernels.h"

struct __chip__Event {
  driver_fence_t* fence; /* NULL: never recorded */
};

static pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER;
static driver_queue_t* default_queue;

static driver_queue_t* queue_of(__chip__Stream_t stream) {
  if (stream != NULL) return (driver_queue_t*)stream;
  pthread_mutex_lock(&queue_mutex);
  if (default_queue == NULL) driver_create_queue(0, &default_queue);
  pthread_mutex_unlock(&queue_mutex);
  return default_queue;
}

static __chip__Error_t error_of(driver_result_t result) {
  return result == DRIVER_OK ? SDK_SUCCESS : SDK_OUT_OF_MEMORY;
}

/* The runtime. */

__chip__Error_t __chip__GetDeviceCount(int* count) {
  *count = driver_device_count();
  return SDK_SUCCESS;
}
__chip__Error_t __chip__GetDevice(int* device) {
  *device = 0;
  return SDK_SUCCESS;
}
__chip__Error_t __chip__SetDevice(int device) {
  return device == 0 ? SDK_SUCCESS : SDK_INVALID_VALUE;
}
__chip__Error_t __chip__DeviceSynchronize(void) { return error_of(driver_finish(0)); }
__chip__Error_t __chip__GetDeviceName(char* name, size_t bytes, int device) {
  (void)device;
  strncpy(name, "__chip__ (stand-in)", bytes);
  return SDK_SUCCESS;
}
__chip__Error_t __chip__Malloc(void** memory, size_t bytes) {
  return error_of(driver_allocate(0, bytes, memory));
}
__chip__Error_t __chip__Free(void* memory) { return error_of(driver_free(0, memory)); }
__chip__Error_t __chip__MemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return error_of(driver_memory_info(0, free_bytes, total_bytes));
}
__chip__Error_t __chip__MallocHost(void** memory, size_t bytes) {
  *memory = malloc(bytes);
  return *memory == NULL ? SDK_OUT_OF_MEMORY : SDK_SUCCESS;
}
__chip__Error_t __chip__FreeHost(void* memory) {
  free(memory);
  return SDK_SUCCESS;
}
__chip__Error_t __chip__MemcpyAsync(void* to, const void* from, size_t bytes, int kind,
                                    __chip__Stream_t stream) {
  (void)kind;
  return error_of(driver_enqueue_copy(queue_of(stream), to, from, bytes));
}
__chip__Error_t __chip__MemsetAsync(void* memory, int byte, size_t bytes, __chip__Stream_t stream) {
  return error_of(driver_enqueue_fill(queue_of(stream), memory, byte, bytes));
}
__chip__Error_t __chip__StreamCreateWithPriority(__chip__Stream_t* stream, unsigned flags,
                                                 int priority) {
  (void)flags, (void)priority;
  return error_of(driver_create_queue(0, (driver_queue_t**)stream));
}
__chip__Error_t __chip__StreamDestroy(__chip__Stream_t stream) {
  driver_release_queue((driver_queue_t*)stream);
  return SDK_SUCCESS;
}
__chip__Error_t __chip__StreamSynchronize(__chip__Stream_t stream) {
  driver_fence_t* fence = NULL;
  const driver_result_t result = driver_enqueue_fence(queue_of(stream), &fence);
  if (result != DRIVER_OK) return error_of(result);
  driver_wait(fence);
  driver_release_fence(fence);
  return SDK_SUCCESS;
}
__chip__Error_t __chip__StreamQuery(__chip__Stream_t stream) {
  return driver_is_idle(queue_of(stream)) ? SDK_SUCCESS : SDK_NOT_READY;
}
__chip__Error_t __chip__StreamWaitEvent(__chip__Stream_t stream, __chip__Event_t event,
                                        unsigned flags) {
  (void)flags;
  if (event->fence == NULL) return SDK_SUCCESS;
  return error_of(driver_enqueue_wait(queue_of(stream), event->fence));
}
__chip__Error_t __chip__EventCreateWithFlags(__chip__Event_t* event, unsigned flags) {
  (void)flags;
  *event = (__chip__Event_t)calloc(1, sizeof **event);
  return *event == NULL ? SDK_OUT_OF_MEMORY : SDK_SUCCESS;
}
__chip__Error_t __chip__EventDestroy(__chip__Event_t event) {
  if (event->fence != NULL) driver_release_fence(event->fence);
  free(event);
  return SDK_SUCCESS;
}
__chip__Error_t __chip__EventRecord(__chip__Event_t event, __chip__Stream_t stream) {
  driver_fence_t* fence = NULL;
  const driver_result_t result = driver_enqueue_fence(queue_of(stream), &fence);
  if (result != DRIVER_OK) return error_of(result);
  if (event->fence != NULL) driver_release_fence(event->fence);
  event->fence = fence;
  return SDK_SUCCESS;
}
__chip__Error_t __chip__EventSynchronize(__chip__Event_t event) {
  if (event->fence != NULL) driver_wait(event->fence);
  return SDK_SUCCESS;
}
__chip__Error_t __chip__EventQuery(__chip__Event_t event) {
  const bool is_done = event->fence == NULL || driver_is_signaled(event->fence);
  return is_done ? SDK_SUCCESS : SDK_NOT_READY;
}
__chip__Error_t __chip__EventElapsedTime(float* milliseconds, __chip__Event_t start,
                                         __chip__Event_t end) {
  if (start->fence == NULL || end->fence == NULL || !driver_is_signaled(start->fence) ||
      !driver_is_signaled(end->fence))
    return SDK_INVALID_VALUE;
  *milliseconds = (float)(driver_milliseconds(end->fence) - driver_milliseconds(start->fence));
  return SDK_SUCCESS;
}
__chip__Error_t __chip__GetLastError(void) { return SDK_SUCCESS; }
const char* __chip__GetErrorString(__chip__Error_t error) {
  switch (error) {
    case SDK_SUCCESS:
      return "no error";
    case SDK_OUT_OF_MEMORY:
      return "the device has not enough free memory";
    case SDK_NOT_SUPPORTED:
      return "the operator does not support these tensors";
    default:
      return "an argument is invalid";
  }
}

/* The operators. */

static bool is_supported(const __chip__Tensor_t* tensor) {
  return tensor->dtype == __chip___FLOAT32 && tensor->dimensions <= MAX_DIMENSIONS;
}

static bool broadcasts(const __chip__Tensor_t* tensor, const elementwise_t* work,
                       operand_t* operand) {
  const int64_t missing = work->dimension_count - tensor->dimensions;
  memset(operand, 0, sizeof *operand);
  operand->data = tensor->data;
  if (!is_supported(tensor) || missing < 0) return false;
  for (int d = 0; d < tensor->dimensions; ++d) {
    if (tensor->sizes[d] == 1) continue;
    if (tensor->sizes[d] != work->sizes[d + missing]) return false;
    operand->strides[d + missing] = tensor->strides[d];
  }
  return true;
}

static __chip__Error_t compute(__chip__Stream_t stream, function_t function,
                               const __chip__Tensor_t* left, const __chip__Tensor_t* right,
                               double alpha, const __chip__Tensor_t* out) {
  elementwise_t work;
  memset(&work, 0, sizeof work);
  if (!is_supported(out)) return SDK_NOT_SUPPORTED;
  work.function = function;
  work.alpha = (float)alpha;
  work.element_count = 1;
  work.dimension_count = out->dimensions;
  for (int d = 0; d < out->dimensions; ++d) {
    work.sizes[d] = out->sizes[d];
    work.element_count *= out->sizes[d];
  }
  if (!broadcasts(out, &work, &work.output) || !broadcasts(left, &work, &work.left) ||
      !broadcasts(right, &work, &work.right))
    return SDK_NOT_SUPPORTED;
  if (work.element_count == 0) return SDK_SUCCESS;
  return error_of(driver_enqueue_kernel(queue_of(stream), elementwise_kernel, &work, sizeof work));
}

__chip__Error_t __chip__Add(__chip__Stream_t stream, const __chip__Tensor_t* input,
                            const __chip__Tensor_t* other, double alpha, __chip__Tensor_t* out) {
  return compute(stream, FUNCTION_ADD, input, other, alpha, out);
}
__chip__Error_t __chip__Mul(__chip__Stream_t stream, const __chip__Tensor_t* input,
                            const __chip__Tensor_t* other, __chip__Tensor_t* out) {
  return compute(stream, FUNCTION_MUL, input, other, 0, out);
}
__chip__Error_t __chip__Neg(__chip__Stream_t stream, const __chip__Tensor_t* input,
                            __chip__Tensor_t* out) {
  return compute(stream, FUNCTION_NEG, input, input, 0, out);
}
__chip__Error_t __chip__Relu(__chip__Stream_t stream, const __chip__Tensor_t* input,
                             __chip__Tensor_t* out) {
  return compute(stream, FUNCTION_RELU, input, input, 0, out);
}
__chip__Error_t __chip__Copy(__chip__Stream_t stream, __chip__Tensor_t* to,
                             const __chip__Tensor_t* from) {
  return compute(stream, FUNCTION_COPY, from, from, 0, to);
}

__chip__Error_t __chip__Matmul(__chip__Stream_t stream, const __chip__Tensor_t* left,
                               const __chip__Tensor_t* right, __chip__Tensor_t* out) {
  product_t work;
  memset(&work, 0, sizeof work);
  const __chip__Tensor_t* const tensors[3] = {left, right, out};
  operand_t* const operands[3] = {&work.left, &work.right, &work.output};
  for (int i = 0; i < 3; ++i) {
    if (!is_supported(tensors[i]) || tensors[i]->dimensions != 2) return SDK_NOT_SUPPORTED;
    operands[i]->data = tensors[i]->data;
    operands[i]->strides[0] = tensors[i]->strides[0];
    operands[i]->strides[1] = tensors[i]->strides[1];
  }
  if (left->sizes[1] != right->sizes[0] || out->sizes[0] != left->sizes[0] ||
      out->sizes[1] != right->sizes[1])
    return SDK_NOT_SUPPORTED;
  work.rows = left->sizes[0];
  work.inner = left->sizes[1];
  work.columns = right->sizes[1];
  if (work.rows * work.columns == 0) return SDK_SUCCESS;
  return error_of(driver_enqueue_kernel(queue_of(stream), product_kernel, &work, sizeof work));
}
