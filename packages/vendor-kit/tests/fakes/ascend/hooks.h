/* Functions that the simulated libascendcl exports for the other simulated libraries (libopapi,
 * libnnopbase, libhccl). No vendor calls them.
 *
 * Device addresses are tagged, so that the host faults on them; only these functions translate
 * them. */
#ifndef DL_FAKES_ASCEND_HOOKS_H_
#define DL_FAKES_ASCEND_HOOKS_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DL_FAKE_ACL_API __attribute__((visibility("default")))

/* Returns the host address of `bytes` bytes of device memory, or NULL unless the whole
 * range is inside one live allocation of `device`. Thread-safe; `bytes` may be 0. */
DL_FAKE_ACL_API void* fakeAclHostAddress(int32_t device, const void* address, size_t bytes);

/* Returns the device that is current on this thread, or -1 if none was set. */
DL_FAKE_ACL_API int32_t fakeAclCurrentDevice(void);

/* Returns the device of a live stream (NULL: the default stream of the current device), or -1. */
DL_FAKE_ACL_API int32_t fakeAclStreamDevice(void* stream);

/* Enqueues `work(argument)` on the stream: it runs on the thread of the stream, in order. A stream
 * that is captured records it instead, and each replay runs it. `work` returns 0, or the error code
 * that the next synchronization of the stream or device reports. `release(argument)` is called
 * once, when `work` will not run again. Returns 0, or the error code of a call that enqueued
 * nothing; then `release` was called. */
DL_FAKE_ACL_API int fakeAclEnqueue(void* stream, int (*work)(void* argument), void* argument,
                                   void (*release)(void* argument));

/* Sets the text that the next aclGetRecentErrMsg of this thread returns. */
DL_FAKE_ACL_API void fakeAclSetErrorText(const char* text);

#ifdef __cplusplus
}
#endif

#endif /* DL_FAKES_ASCEND_HOOKS_H_ */
