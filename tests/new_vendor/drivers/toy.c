/* The driver of the kit's README, whose functions are CUDA's runtime functions with another prefix.
 * Each call is finished when it returns, which a driver with streams may do too. */
#define _POSIX_C_SOURCE 200809L

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2 };
typedef int toyError_t;
typedef struct {
  double milliseconds;
} event_t;

static const size_t kMemory = (size_t)1 << 32;

EXPORT toyError_t toyGetDeviceCount(int* count) {
  *count = 1;
  return SUCCESS;
}
EXPORT toyError_t toyGetDevice(int* device) {
  *device = 0;
  return SUCCESS;
}
EXPORT toyError_t toySetDevice(int device) { return device == 0 ? SUCCESS : INVALID_VALUE; }
EXPORT toyError_t toyDeviceSynchronize(void) { return SUCCESS; }

EXPORT toyError_t toyMalloc(void** memory, size_t bytes) {
  *memory = bytes > kMemory ? NULL : aligned_alloc(256, (bytes + 255) / 256 * 256);
  return *memory == NULL ? OUT_OF_MEMORY : SUCCESS;
}
EXPORT toyError_t toyFree(void* memory) {
  free(memory);
  return SUCCESS;
}
EXPORT toyError_t toyMallocHost(void** memory, size_t bytes) { return toyMalloc(memory, bytes); }
EXPORT toyError_t toyFreeHost(void* memory) { return toyFree(memory); }
EXPORT toyError_t toyMemGetInfo(size_t* available, size_t* total) {
  *available = *total = kMemory;
  return SUCCESS;
}
EXPORT toyError_t toyMemcpyAsync(void* to, const void* from, size_t bytes, int kind, void* stream) {
  (void)kind;
  (void)stream;
  memmove(to, from, bytes);
  return SUCCESS;
}
EXPORT toyError_t toyMemsetAsync(void* memory, int value, size_t bytes, void* stream) {
  (void)stream;
  memset(memory, value, bytes);
  return SUCCESS;
}

EXPORT toyError_t toyStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  (void)flags;
  (void)priority;
  *stream = malloc(1);
  return SUCCESS;
}
EXPORT toyError_t toyStreamDestroy(void* stream) { return toyFree(stream); }
EXPORT toyError_t toyStreamSynchronize(void* stream) {
  (void)stream;
  return SUCCESS;
}
EXPORT toyError_t toyStreamQuery(void* stream) { return toyStreamSynchronize(stream); }
EXPORT toyError_t toyStreamWaitEvent(void* stream, void* event, unsigned flags) {
  (void)event;
  (void)flags;
  return toyStreamSynchronize(stream);
}

EXPORT toyError_t toyEventCreateWithFlags(event_t** event, unsigned flags) {
  (void)flags;
  *event = calloc(1, sizeof **event);
  return SUCCESS;
}
EXPORT toyError_t toyEventDestroy(event_t* event) { return toyFree(event); }
EXPORT toyError_t toyEventRecord(event_t* event, void* stream) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  event->milliseconds = (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
  return toyStreamSynchronize(stream);
}
EXPORT toyError_t toyEventSynchronize(event_t* event) { return toyStreamSynchronize(event); }
EXPORT toyError_t toyEventQuery(event_t* event) { return toyStreamSynchronize(event); }
EXPORT toyError_t toyEventElapsedTime(float* milliseconds, event_t* start, event_t* end) {
  *milliseconds = (float)(end->milliseconds - start->milliseconds);
  return SUCCESS;
}

EXPORT toyError_t toyGetLastError(void) { return SUCCESS; }
EXPORT const char* toyGetErrorString(toyError_t error) {
  return error == OUT_OF_MEMORY ? "out of memory" : "invalid value";
}
EXPORT toyError_t toyGetName(char* name, size_t bytes, int device) {
  (void)device;
  strncpy(name, "toy", bytes);
  return SUCCESS;
}
EXPORT toyError_t toyRelu(float* to, const float* from, int64_t count, void* stream) {
  for (int64_t i = 0; i < count; ++i) to[i] = from[i] < 0 ? 0 : from[i];
  return toyStreamSynchronize(stream);
}
