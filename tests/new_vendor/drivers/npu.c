/* The driver of docs/new-vendor.md that has neither addresses nor streams: buffers with handles,
 * and one queue, a thread, whose submissions are numbered. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

enum { BUFFERS = 65536, SUBMISSIONS = 4096 };
typedef uint32_t npu_buffer_t;

typedef struct {
  void (*run)(void* to, const void* from, uint64_t size);
  char* to;
  const char* from;
  uint64_t size;
} work_t;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static char* buffers[BUFFERS];
static work_t queue[SUBMISSIONS];
static double completions[SUBMISSIONS];
static uint64_t submitted, completed;

static void* run_queue(void* unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  for (;;) {
    while (completed == submitted) pthread_cond_wait(&changed, &mutex);
    const work_t work = queue[(completed + 1) % SUBMISSIONS];
    pthread_mutex_unlock(&mutex);
    work.run(work.to, work.from, work.size);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    pthread_mutex_lock(&mutex);
    ++completed;
    completions[completed % SUBMISSIONS] = (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
    pthread_cond_broadcast(&changed);
  }
  return NULL;
}

static void start(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run_queue, NULL) != 0) abort();
}

static uint64_t submit(void (*run)(void*, const void*, uint64_t), void* to, const void* from,
                       uint64_t size) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, start);
  pthread_mutex_lock(&mutex);
  while (submitted - completed >= SUBMISSIONS - 1) pthread_cond_wait(&changed, &mutex);
  const uint64_t number = ++submitted;
  queue[number % SUBMISSIONS] = (work_t){run, to, from, size};
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  return number;
}

static void move(void* to, const void* from, uint64_t bytes) { memmove(to, from, bytes); }

static void relu(void* to, const void* from, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    const float value = ((const float*)from)[i];
    ((float*)to)[i] = value < 0 ? 0 : value;
  }
}

EXPORT int npu_create_buffer(uint64_t bytes, npu_buffer_t* buffer) {
  char* memory = malloc(bytes);
  if (memory == NULL) return 1;
  pthread_mutex_lock(&mutex);
  for (npu_buffer_t i = 0; i < BUFFERS; ++i) {
    if (buffers[i] != NULL) continue;
    buffers[i] = memory;
    *buffer = i;
    pthread_mutex_unlock(&mutex);
    return 0;
  }
  pthread_mutex_unlock(&mutex);
  free(memory);
  return 1;
}

EXPORT void npu_wait(uint64_t submission) {
  pthread_mutex_lock(&mutex);
  while (completed < submission) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}

EXPORT uint64_t npu_last_submitted(void) {
  pthread_mutex_lock(&mutex);
  const uint64_t number = submitted;
  pthread_mutex_unlock(&mutex);
  return number;
}

EXPORT uint64_t npu_last_completed(void) {
  pthread_mutex_lock(&mutex);
  const uint64_t number = completed;
  pthread_mutex_unlock(&mutex);
  return number;
}

EXPORT void npu_destroy_buffer(npu_buffer_t buffer) {
  npu_wait(npu_last_submitted());
  pthread_mutex_lock(&mutex);
  free(buffers[buffer]);
  buffers[buffer] = NULL;
  pthread_mutex_unlock(&mutex);
}

EXPORT uint64_t npu_write(npu_buffer_t to, uint64_t offset, const void* from, uint64_t bytes) {
  return submit(move, buffers[to] + offset, from, bytes);
}

EXPORT uint64_t npu_read(void* to, npu_buffer_t from, uint64_t offset, uint64_t bytes) {
  return submit(move, to, buffers[from] + offset, bytes);
}

EXPORT uint64_t npu_copy(npu_buffer_t to, uint64_t to_offset, npu_buffer_t from,
                         uint64_t from_offset, uint64_t bytes) {
  return submit(move, buffers[to] + to_offset, buffers[from] + from_offset, bytes);
}

EXPORT uint64_t npu_relu(npu_buffer_t to, uint64_t to_offset, npu_buffer_t from,
                         uint64_t from_offset, uint64_t count) {
  return submit(relu, buffers[to] + to_offset, buffers[from] + from_offset, count);
}

EXPORT double npu_completion_milliseconds(uint64_t submission) {
  pthread_mutex_lock(&mutex);
  const double milliseconds = completions[submission % SUBMISSIONS];
  pthread_mutex_unlock(&mutex);
  return milliseconds;
}
