/* Driver of a simulated device, with the functions of the CUDA runtime. Device memory is host
 * memory behind tagged addresses: the host faults on them, and code on one device cannot use
 * another's. Streams are threads. Calls that CUDA leaves undefined, or tolerates, fail here: the
 * device of a call must be current on the thread.
 *
 * SIM_DEVICES: number of devices (default: 2). SIM_MEMORY: bytes of each (default: 1 GiB). */
#ifndef SIM_H_
#define SIM_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_API __attribute__((visibility("default")))

typedef enum {
  simSuccess = 0,
  simErrorInvalidValue = 1,
  simErrorMemoryAllocation = 2,
  simErrorNoDevice = 100,
  simErrorInvalidDevice = 101,
  simErrorInvalidHandle = 400,
  simErrorNotReady = 600,
  simErrorLaunchFailure = 719,
} simError_t;

typedef enum {
  simMemcpyHostToDevice = 1,
  simMemcpyDeviceToHost = 2,
  simMemcpyDeviceToDevice = 3,
} simMemcpyKind;

typedef struct simStream* simStream_t; /* NULL: the default stream of the current device */
typedef struct simEvent* simEvent_t;

SIM_API const char* simGetErrorString(simError_t error);
/* Returns and clears the thread's last failure. Unless cleared, the next launch reports it too. */
SIM_API simError_t simGetLastError(void);

SIM_API simError_t simGetDeviceCount(int* count);
SIM_API simError_t simGetDevice(int* device);
SIM_API simError_t simSetDevice(int device);
SIM_API simError_t simGetName(char* name, size_t size, int device);
/* Waits; returns and clears the first kernel failure since the last call. */
SIM_API simError_t simDeviceSynchronize(void);

SIM_API simError_t simMalloc(void** memory, size_t bytes);
SIM_API simError_t simFree(void* memory);
SIM_API simError_t simMallocHost(void** memory, size_t bytes);
SIM_API simError_t simFreeHost(void* memory);
SIM_API simError_t simMemGetInfo(size_t* free_bytes, size_t* total);
/* Never waits, even for pageable host memory, which must not change until the copy has run. */
SIM_API simError_t simMemcpyAsync(void* to, const void* from, size_t bytes, simMemcpyKind kind,
                                  simStream_t stream);
SIM_API simError_t simMemsetAsync(void* memory, int value, size_t bytes, simStream_t stream);

SIM_API simError_t simStreamCreateWithPriority(simStream_t* stream, unsigned flags, int priority);
SIM_API simError_t simStreamDestroy(simStream_t stream);
SIM_API simError_t simStreamSynchronize(simStream_t stream);
SIM_API simError_t simStreamQuery(simStream_t stream);
SIM_API simError_t simStreamWaitEvent(simStream_t stream, simEvent_t event, unsigned flags);

#define simEventDisableTiming 2u
SIM_API simError_t simEventCreateWithFlags(simEvent_t* event, unsigned flags);
SIM_API simError_t simEventDestroy(simEvent_t event);
SIM_API simError_t simEventRecord(simEvent_t event, simStream_t stream);
SIM_API simError_t simEventSynchronize(simEvent_t event);
SIM_API simError_t simEventQuery(simEvent_t event);
SIM_API simError_t simEventElapsedTime(float* milliseconds, simEvent_t start, simEvent_t end);

/* For kernels: returns the memory at an address of their device. Returns NULL, and the kernel has
 * failed, if `bytes` bytes there are not inside one allocation. */
typedef void* (*simMemory_t)(const void* address, size_t bytes);
/* Runs `kernel` on the stream with a copy of its arguments of `bytes` bytes. */
SIM_API simError_t simLaunch(void (*kernel)(const void* arguments, simMemory_t memory),
                             const void* arguments, size_t bytes, simStream_t stream);

/* For tests: holds the work of a device's default stream back until it is released. */
SIM_API simError_t simHold(int device, int hold);
/* For tests: number of live allocations of a device. */
SIM_API simError_t simLiveAllocations(int device, size_t* count);

#ifdef __cplusplus
}
#endif

#endif /* SIM_H_ */
