/* Functions that the fake libcnrt exports for the fake libcnnl. No vendor calls them.
 *
 * Device addresses are tagged, so that the host faults on them; only these functions translate
 * them. */
#ifndef DL_FAKES_CAMBRICON_HOOKS_H_
#define DL_FAKES_CAMBRICON_HOOKS_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DL_FAKE_CNRT_API __attribute__((visibility("default")))

/* Returns the host address of `bytes` bytes of device memory, or NULL unless the whole range is
 * inside one live allocation of `device`. Thread-safe; `bytes` may be 0. */
DL_FAKE_CNRT_API void* fakeCnrtHostAddress(int device, const void* address, size_t bytes);

/* Returns the device that is current on this thread. */
DL_FAKE_CNRT_API int fakeCnrtCurrentDevice(void);

/* Returns the device of a live queue (NULL: the default queue of the current device), or -1. */
DL_FAKE_CNRT_API int fakeCnrtQueueDevice(void* queue);

/* Enqueues `work(argument)`: it runs on the thread of the queue, in order. `work` returns 0, or the
 * error that the next synchronization of the queue or device reports. `release(argument)` is called
 * once, when `work` will not run again. Returns 0, or the error of a call that enqueued nothing;
 * then `release` was called. */
DL_FAKE_CNRT_API int fakeCnrtEnqueue(void* queue, int (*work)(void* argument), void* argument,
                                     void (*release)(void* argument));

#ifdef __cplusplus
}
#endif

#endif /* DL_FAKES_CAMBRICON_HOOKS_H_ */
