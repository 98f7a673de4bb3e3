/* The driver of a card that is not there, in the shape of CUDA's runtime. Host memory poses as the
 * memory of cards: the host faults on its addresses, and code on one card may not use another's.
 * Streams are threads. What CUDA leaves undefined, or forgives, fails here: every call has to be
 * made while the card that it concerns is the thread's current one.
 *
 * CARD_DEVICES: how many cards there are, 2 by default. CARD_MEMORY: bytes of each, 1 GiB. */
#ifndef CARD_H_
#define CARD_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CARD_API __attribute__((visibility("default")))

typedef enum {
  cardSuccess = 0,
  cardErrorInvalidValue = 1,
  cardErrorMemoryAllocation = 2,
  cardErrorNoDevice = 100,
  cardErrorInvalidDevice = 101,
  cardErrorInvalidHandle = 400,
  cardErrorNotReady = 600,
  cardErrorLaunchFailure = 719,
} cardError_t;

typedef enum {
  cardMemcpyHostToDevice = 1,
  cardMemcpyDeviceToHost = 2,
  cardMemcpyDeviceToDevice = 3,
} cardMemcpyKind;

typedef struct cardStream* cardStream_t; /* NULL: the default stream of the current card */
typedef struct cardEvent* cardEvent_t;

CARD_API const char* cardGetErrorString(cardError_t error);
/* The thread's last failure, once. A failure that nobody takes is that of the next launch, too. */
CARD_API cardError_t cardGetLastError(void);

CARD_API cardError_t cardGetDeviceCount(int* count);
CARD_API cardError_t cardGetDevice(int* device);
CARD_API cardError_t cardSetDevice(int device);
CARD_API cardError_t cardGetName(char* name, size_t size, int device);
/* Waits, and reports the first failure of a kernel since the last time, once. */
CARD_API cardError_t cardDeviceSynchronize(void);

CARD_API cardError_t cardMalloc(void** memory, size_t bytes);
CARD_API cardError_t cardFree(void* memory);
CARD_API cardError_t cardMallocHost(void** memory, size_t bytes);
CARD_API cardError_t cardFreeHost(void* memory);
CARD_API cardError_t cardMemGetInfo(size_t* free_bytes, size_t* total);
/* Never waits, whatever the host's memory is: it must stay as it is until the stream has passed. */
CARD_API cardError_t cardMemcpyAsync(void* to, const void* from, size_t bytes, cardMemcpyKind kind,
                                     cardStream_t stream);
CARD_API cardError_t cardMemsetAsync(void* memory, int value, size_t bytes, cardStream_t stream);

CARD_API cardError_t cardStreamCreateWithPriority(cardStream_t* stream, unsigned flags,
                                                  int priority);
CARD_API cardError_t cardStreamDestroy(cardStream_t stream);
CARD_API cardError_t cardStreamSynchronize(cardStream_t stream);
CARD_API cardError_t cardStreamQuery(cardStream_t stream);
CARD_API cardError_t cardStreamWaitEvent(cardStream_t stream, cardEvent_t event, unsigned flags);

#define cardEventDisableTiming 2u
CARD_API cardError_t cardEventCreateWithFlags(cardEvent_t* event, unsigned flags);
CARD_API cardError_t cardEventDestroy(cardEvent_t event);
CARD_API cardError_t cardEventRecord(cardEvent_t event, cardStream_t stream);
CARD_API cardError_t cardEventSynchronize(cardEvent_t event);
CARD_API cardError_t cardEventQuery(cardEvent_t event);
CARD_API cardError_t cardEventElapsedTime(float* milliseconds, cardEvent_t start, cardEvent_t end);

/* For kernels: what is behind an address of the card that they run on. NULL, and the kernel has
 * failed, where it is none, or `bytes` reach beyond its allocation. */
typedef void* (*cardMemory_t)(const void* address, size_t bytes);
/* Runs `kernel` on the stream with a copy of `bytes` of arguments. */
CARD_API cardError_t cardLaunch(void (*kernel)(const void* arguments, cardMemory_t memory),
                                const void* arguments, size_t bytes, cardStream_t stream);

/* For tests: nothing starts on a card's default stream from now on, until it is released. */
CARD_API cardError_t cardHold(int device, int hold);
/* For tests: how many pieces of memory a card has given out. */
CARD_API cardError_t cardLiveAllocations(int device, size_t* count);

#ifdef __cplusplus
}
#endif

#endif /* CARD_H_ */
