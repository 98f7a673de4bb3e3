/* The chip's SDK as the vendor sees it: a runtime with CUDA's function names, and a library of
 * operators. Replace this file by the SDK's own headers, or by declarations like these.
 *
 * sdk.c stands in for the SDK: it is a library of its own, which the vendor opens like the real
 * one. Delete it, together with driver.*, kernels.* and address.h. */
#ifndef SDK_H_
#define SDK_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SDK_API __attribute__((visibility("default")))

typedef int __chip__Error_t;
typedef struct __chip__Stream* __chip__Stream_t;
typedef struct __chip__Event* __chip__Event_t;

enum {
  SDK_SUCCESS = 0,
  SDK_INVALID_VALUE = 1,
  SDK_OUT_OF_MEMORY = 2,
  SDK_NOT_SUPPORTED = 801,
  SDK_NOT_READY = 600,
};

/* The runtime. A NULL stream is the default stream. */
SDK_API __chip__Error_t __chip__GetDeviceCount(int* count);
SDK_API __chip__Error_t __chip__GetDevice(int* device);
SDK_API __chip__Error_t __chip__SetDevice(int device);
SDK_API __chip__Error_t __chip__DeviceSynchronize(void);
SDK_API __chip__Error_t __chip__GetDeviceName(char* name, size_t bytes, int device);
SDK_API __chip__Error_t __chip__Malloc(void** memory, size_t bytes);
SDK_API __chip__Error_t __chip__Free(void* memory);
SDK_API __chip__Error_t __chip__MemGetInfo(size_t* free_bytes, size_t* total_bytes);
SDK_API __chip__Error_t __chip__MallocHost(void** memory, size_t bytes);
SDK_API __chip__Error_t __chip__FreeHost(void* memory);
SDK_API __chip__Error_t __chip__MemcpyAsync(void* to, const void* from, size_t bytes, int kind,
                                            __chip__Stream_t stream);
SDK_API __chip__Error_t __chip__MemsetAsync(void* memory, int byte, size_t bytes,
                                            __chip__Stream_t stream);
SDK_API __chip__Error_t __chip__StreamCreateWithPriority(__chip__Stream_t* stream, unsigned flags,
                                                         int priority);
SDK_API __chip__Error_t __chip__StreamDestroy(__chip__Stream_t stream);
SDK_API __chip__Error_t __chip__StreamSynchronize(__chip__Stream_t stream);
SDK_API __chip__Error_t __chip__StreamQuery(__chip__Stream_t stream);
SDK_API __chip__Error_t __chip__StreamWaitEvent(__chip__Stream_t stream, __chip__Event_t event,
                                                unsigned flags);
SDK_API __chip__Error_t __chip__EventCreateWithFlags(__chip__Event_t* event, unsigned flags);
SDK_API __chip__Error_t __chip__EventDestroy(__chip__Event_t event);
SDK_API __chip__Error_t __chip__EventRecord(__chip__Event_t event, __chip__Stream_t stream);
SDK_API __chip__Error_t __chip__EventSynchronize(__chip__Event_t event);
SDK_API __chip__Error_t __chip__EventQuery(__chip__Event_t event);
SDK_API __chip__Error_t __chip__EventElapsedTime(float* milliseconds, __chip__Event_t start,
                                                 __chip__Event_t end);
SDK_API __chip__Error_t __chip__GetLastError(void);
SDK_API const char* __chip__GetErrorString(__chip__Error_t error);

/* The operators. Tensors have any strides, which count elements; `other` and so on broadcast to the
 * shape of `out`. A call that the library does not support returns SDK_NOT_SUPPORTED and does
 * nothing. */
enum { __chip___FLOAT32 = 0, __chip___FLOAT16 = 1, __chip___INT64 = 2 };
typedef struct {
  void* data;
  int dtype;
  int dimensions;
  const int64_t* sizes;
  const int64_t* strides;
} __chip__Tensor_t;

SDK_API __chip__Error_t __chip__Add(__chip__Stream_t stream, const __chip__Tensor_t* input,
                                    const __chip__Tensor_t* other, double alpha,
                                    __chip__Tensor_t* out);
SDK_API __chip__Error_t __chip__Mul(__chip__Stream_t stream, const __chip__Tensor_t* input,
                                    const __chip__Tensor_t* other, __chip__Tensor_t* out);
SDK_API __chip__Error_t __chip__Neg(__chip__Stream_t stream, const __chip__Tensor_t* input,
                                    __chip__Tensor_t* out);
SDK_API __chip__Error_t __chip__Relu(__chip__Stream_t stream, const __chip__Tensor_t* input,
                                     __chip__Tensor_t* out);
SDK_API __chip__Error_t __chip__Copy(__chip__Stream_t stream, __chip__Tensor_t* to,
                                     const __chip__Tensor_t* from);
SDK_API __chip__Error_t __chip__Matmul(__chip__Stream_t stream, const __chip__Tensor_t* left,
                                       const __chip__Tensor_t* right, __chip__Tensor_t* out);

#ifdef __cplusplus
}
#endif

#endif /* SDK_H_ */
