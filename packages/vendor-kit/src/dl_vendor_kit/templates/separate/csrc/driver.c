/* A stand-in for the driver: one device, whose queues are threads. Delete it when vendor.* calls
 * your driver. */
#define _POSIX_C_SOURCE 200809L

#include "driver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "address.h"

enum { ALIGNMENT = 256 };
static const size_t kTotalBytes = (size_t)4 << 30;

typedef struct work {
  struct work* next;
  void (*run)(const void* payload);
  max_align_t payload[];
} work_t;

struct driver_fence {
  atomic_int references;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool signaled;
  double milliseconds;
};

struct driver_queue {
  driver_queue_t* next; /* in the list of the device's queues */
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  work_t* first;
  work_t** last;
  bool executes; /* the thread runs work that it has taken */
  bool released;
};

static pthread_mutex_t queues_mutex = PTHREAD_MUTEX_INITIALIZER;
static driver_queue_t* queues;
static atomic_size_t used_bytes;

const char* driver_text(driver_result_t result) {
  switch (result) {
    case DRIVER_OK:
      return "no error";
    case DRIVER_OUT_OF_MEMORY:
      return "the device has not enough free memory";
    case DRIVER_OUT_OF_RESOURCES:
      return "the host has no memory or no thread left for the driver";
  }
  return "unknown error";
}

int driver_device_count(void) { return 1; }

/* Memory. The size of a block is stored before its first byte. */

driver_result_t driver_allocate(int device, size_t bytes, void** memory) {
  (void)device;
  if (bytes > kTotalBytes - atomic_load(&used_bytes)) return DRIVER_OUT_OF_MEMORY;
  const size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  char* block = (char*)aligned_alloc(ALIGNMENT, rounded + ALIGNMENT);
  if (block == NULL) return DRIVER_OUT_OF_MEMORY;
  *(size_t*)(void*)block = bytes;
  atomic_fetch_add(&used_bytes, bytes);
  *memory = (void*)((uintptr_t)(block + ALIGNMENT) | DEVICE_BIT);
  return DRIVER_OK;
}

driver_result_t driver_free(int device, void* memory) {
  (void)device;
  char* block = (char*)device_address(memory) - ALIGNMENT;
  atomic_fetch_sub(&used_bytes, *(size_t*)(void*)block);
  free(block);
  return DRIVER_OK;
}

driver_result_t driver_memory_info(int device, size_t* free_bytes, size_t* total_bytes) {
  (void)device;
  *total_bytes = kTotalBytes;
  *free_bytes = kTotalBytes - atomic_load(&used_bytes);
  return DRIVER_OK;
}

/* Queues. */

static void unlink_queue(const driver_queue_t* queue) {
  driver_queue_t** link = &queues;
  while (*link != queue) link = &(*link)->next;
  *link = queue->next;
}

/* Wait for work, and take it; NULL when the queue is released and empty, and no longer listed. */
static work_t* take_work(driver_queue_t* queue) {
  for (;;) {
    pthread_mutex_lock(&queue->mutex);
    queue->executes = false;
    while (queue->first == NULL && !queue->released) {
      pthread_cond_wait(&queue->changed, &queue->mutex);
    }
    work_t* work = queue->first;
    if (work != NULL) {
      queue->executes = true;
      queue->first = work->next;
      if (queue->first == NULL) queue->last = &queue->first;
    }
    pthread_mutex_unlock(&queue->mutex);
    if (work != NULL) return work;
    /* driver_finish may enqueue until the queue is no longer listed. */
    pthread_mutex_lock(&queues_mutex);
    const bool is_empty = queue->first == NULL;
    if (is_empty) unlink_queue(queue);
    pthread_mutex_unlock(&queues_mutex);
    if (is_empty) return NULL;
  }
}

static void* run_queue(void* argument) {
  driver_queue_t* queue = (driver_queue_t*)argument;
  for (work_t* work = take_work(queue); work != NULL; work = take_work(queue)) {
    work->run(work->payload);
    free(work);
  }
  pthread_mutex_destroy(&queue->mutex);
  pthread_cond_destroy(&queue->changed);
  free(queue);
  return NULL;
}

driver_result_t driver_create_queue(int device, driver_queue_t** queue) {
  (void)device;
  driver_queue_t* made = (driver_queue_t*)calloc(1, sizeof *made);
  if (made == NULL) return DRIVER_OUT_OF_RESOURCES;
  pthread_mutex_init(&made->mutex, NULL);
  pthread_cond_init(&made->changed, NULL);
  made->last = &made->first;
  pthread_mutex_lock(&queues_mutex);
  made->next = queues;
  queues = made;
  pthread_t thread;
  const bool failed = pthread_create(&thread, NULL, run_queue, made) != 0;
  if (failed) queues = made->next;
  pthread_mutex_unlock(&queues_mutex);
  if (failed) {
    free(made);
    return DRIVER_OUT_OF_RESOURCES;
  }
  pthread_detach(thread);
  *queue = made;
  return DRIVER_OK;
}

void driver_release_queue(driver_queue_t* queue) {
  pthread_mutex_lock(&queue->mutex);
  queue->released = true;
  pthread_cond_signal(&queue->changed);
  pthread_mutex_unlock(&queue->mutex);
}

static driver_result_t enqueue(driver_queue_t* queue, void (*run)(const void*), const void* payload,
                               size_t bytes) {
  work_t* work = (work_t*)malloc(sizeof *work + bytes);
  if (work == NULL) return DRIVER_OUT_OF_RESOURCES;
  work->next = NULL;
  work->run = run;
  memcpy(work->payload, payload, bytes);
  pthread_mutex_lock(&queue->mutex);
  *queue->last = work;
  queue->last = &work->next;
  pthread_cond_signal(&queue->changed);
  pthread_mutex_unlock(&queue->mutex);
  return DRIVER_OK;
}

bool driver_is_idle(driver_queue_t* queue) {
  pthread_mutex_lock(&queue->mutex);
  const bool idle = queue->first == NULL && !queue->executes;
  pthread_mutex_unlock(&queue->mutex);
  return idle;
}

driver_result_t driver_finish(int device) {
  (void)device;
  driver_result_t result = DRIVER_OK;
  size_t length = 0, count = 0;
  pthread_mutex_lock(&queues_mutex);
  for (driver_queue_t* queue = queues; queue != NULL; queue = queue->next) ++length;
  driver_fence_t** fences = (driver_fence_t**)calloc(length, sizeof *fences);
  if (length > 0 && fences == NULL) result = DRIVER_OUT_OF_RESOURCES;
  for (driver_queue_t* queue = queues; queue != NULL && result == DRIVER_OK; queue = queue->next) {
    result = driver_enqueue_fence(queue, &fences[count]);
    if (result == DRIVER_OK) ++count;
  }
  pthread_mutex_unlock(&queues_mutex);
  for (size_t i = 0; i < count; ++i) {
    driver_wait(fences[i]);
    driver_release_fence(fences[i]);
  }
  free(fences);
  return result;
}

/* Work. */

typedef struct {
  void* to;
  const void* from;
  size_t bytes;
} copy_t;

static void run_copy(const void* payload) {
  const copy_t* copy = (const copy_t*)payload;
  memmove(copy->to, copy->from, copy->bytes);
}

driver_result_t driver_enqueue_copy(driver_queue_t* queue, void* to, const void* from,
                                    size_t bytes) {
  /* Removing the bit of device memory changes no host address. */
  const copy_t copy = {device_address(to), device_address((void*)(uintptr_t)from), bytes};
  return enqueue(queue, run_copy, &copy, sizeof copy);
}

typedef struct {
  void* memory;
  int byte;
  size_t bytes;
} fill_t;

static void run_fill(const void* payload) {
  const fill_t* fill = (const fill_t*)payload;
  memset(fill->memory, fill->byte, fill->bytes);
}

driver_result_t driver_enqueue_fill(driver_queue_t* queue, void* memory, int byte, size_t bytes) {
  const fill_t fill = {device_address(memory), byte, bytes};
  return enqueue(queue, run_fill, &fill, sizeof fill);
}

driver_result_t driver_enqueue_kernel(driver_queue_t* queue, void (*kernel)(const void*),
                                      const void* arguments, size_t bytes) {
  return enqueue(queue, kernel, arguments, bytes);
}

/* Fences. */

typedef struct {
  driver_queue_t* queue;
  driver_fence_t* fence;
} signal_t;

static void run_fence(const void* payload) {
  const signal_t* work = (const signal_t*)payload;
  driver_fence_t* fence = work->fence;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  /* Both locks: a queue whose last fence is signaled is idle. */
  pthread_mutex_lock(&work->queue->mutex);
  pthread_mutex_lock(&fence->mutex);
  work->queue->executes = false;
  fence->milliseconds = (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
  fence->signaled = true;
  pthread_cond_broadcast(&fence->changed);
  pthread_mutex_unlock(&fence->mutex);
  pthread_mutex_unlock(&work->queue->mutex);
  driver_release_fence(fence);
}

static void run_wait(const void* payload) {
  driver_fence_t* fence = *(driver_fence_t* const*)payload;
  driver_wait(fence);
  driver_release_fence(fence);
}

driver_result_t driver_enqueue_fence(driver_queue_t* queue, driver_fence_t** fence) {
  driver_fence_t* made = (driver_fence_t*)calloc(1, sizeof *made);
  if (made == NULL) return DRIVER_OUT_OF_RESOURCES;
  pthread_mutex_init(&made->mutex, NULL);
  pthread_cond_init(&made->changed, NULL);
  atomic_init(&made->references, 2); /* the queue's and the caller's */
  const signal_t work = {queue, made};
  const driver_result_t result = enqueue(queue, run_fence, &work, sizeof work);
  if (result == DRIVER_OK) {
    *fence = made;
  } else {
    free(made);
  }
  return result;
}

driver_result_t driver_enqueue_wait(driver_queue_t* queue, driver_fence_t* fence) {
  atomic_fetch_add(&fence->references, 1);
  const driver_result_t result = enqueue(queue, run_wait, &fence, sizeof fence);
  if (result != DRIVER_OK) driver_release_fence(fence);
  return result;
}

void driver_wait(driver_fence_t* fence) {
  pthread_mutex_lock(&fence->mutex);
  while (!fence->signaled) pthread_cond_wait(&fence->changed, &fence->mutex);
  pthread_mutex_unlock(&fence->mutex);
}

bool driver_is_signaled(driver_fence_t* fence) {
  pthread_mutex_lock(&fence->mutex);
  const bool signaled = fence->signaled;
  pthread_mutex_unlock(&fence->mutex);
  return signaled;
}

double driver_milliseconds(driver_fence_t* fence) {
  pthread_mutex_lock(&fence->mutex);
  const double milliseconds = fence->milliseconds;
  pthread_mutex_unlock(&fence->mutex);
  return milliseconds;
}

void driver_release_fence(driver_fence_t* fence) {
  if (atomic_fetch_sub(&fence->references, 1) > 1) return;
  pthread_mutex_destroy(&fence->mutex);
  pthread_cond_destroy(&fence->changed);
  free(fence);
}
