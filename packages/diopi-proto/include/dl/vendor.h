/* The vendor table: all functions of a vendor library that a host calls, except the operators.
 *
 * A library exports one symbol, dl_vendor_v1. It creates an *instance*, the first argument of every
 * slot. A library stores no data of a host in static variables, so that several hosts in one
 * process can have instances of it.
 *
 * Versioning. Structs begin with struct_size as their writer compiled it, fields are only ever
 * appended, and a reader tests DL_HAS_FIELD before it accesses a field that was added after the
 * first release. Minor versions are never compared; an incompatible change needs dl_vendor_v2.
 * Unknown flag bits are zero and must be ignored by readers. A NULL slot means "not supported".
 *
 * Threads. Every slot may be called from any thread; calls on one stream or event are ordered by
 * the caller. Errors of asynchronous work may surface from a later call on the same device, at the
 * latest from a synchronisation. No exception, abort or longjmp crosses this boundary.
 *
 * Fork. Creating an instance and `present` do not use the driver. After a fork, the child process
 * may call only `present` on an instance that its parent used. */
#ifndef DL_VENDOR_H_
#define DL_VENDOR_H_

#include "dl/base.h"
#include "dl/handles.h"
#include "dl/host.h"
#include "dl/status.h"

DL_EXTERN_C_BEGIN

/* Capabilities: bits of dl_vendor_table_t.capabilities. */
#define DL_CAP_HOST_ACCESSIBLE (UINT64_C(1) << 0) /* the host may read and write device memory */
#define DL_CAP_SYNCHRONOUS \
  (UINT64_C(1) << 1) /* work is finished when the enqueueing call returns */
#define DL_CAP_ANY_HOST_POINTER \
  (UINT64_C(1) << 2)                        /* operators accept any host address as device memory */
#define DL_CAP_REFERENCE (UINT64_C(1) << 3) /* a CPU reference, not an accelerator */

/* Extension types. Each is a struct that is declared in the header of the same name (dl/kernel.h
 * and so on). dl_extension_find in dl/extension.h finds one in the chain that begins at
 * dl_vendor_table_t.extensions. Types from 1000 on are reserved for tests. */
#define DL_EXT_COMMUNICATOR UINT64_C(1)
#define DL_EXT_KERNEL UINT64_C(2)
#define DL_EXT_GRAPH UINT64_C(3)
#define DL_EXT_PROFILER UINT64_C(4)
#define DL_EXT_PEER UINT64_C(5)
#define DL_EXT_CHOICES UINT64_C(6)
#define DL_EXT_CONSTANTS UINT64_C(7)

typedef struct dl_device_properties {
  uint64_t struct_size; /* set by the caller; the vendor writes no field beyond it */
  char name[128];       /* UTF-8, terminated */
  uint64_t total_memory;
  int32_t major; /* architecture version, defined by the vendor */
  int32_t minor;
  int32_t multiprocessor_count;
  int32_t warp_size;
  uint64_t dtype_mask; /* bit n: diopiDtype_t n is supported for computations */
  char architecture[64];
  /* Number of bytes behind the memory of a tensor that operators may read, at most 65536. Hosts
   * leave that many bytes without data behind every block that is the storage of tensors: at the
   * end of each allocation, and between blocks that share one. Their contents are undefined. 0 with
   * DL_CAP_ANY_HOST_POINTER, because hosts then also pass memory that others have allocated. */
  uint64_t allocation_padding;
  /* append new fields here, never reorder */
} dl_device_properties_t;

typedef enum {
  DL_COPY_HOST_TO_DEVICE = 0,
  DL_COPY_DEVICE_TO_HOST = 1,
  DL_COPY_DEVICE_TO_DEVICE = 2, /* within one device */
} dl_copy_kind_t;

#define DL_EVENT_TIMING (UINT64_C(1) << 0)

/* Placeholder for any operator's function type; the fingerprint identifies the actual type. */
typedef diopiError_t (*dl_function_t)(void);

/* One operator of a vendor. Its layout is frozen: hosts iterate over an array of these. */
typedef struct dl_operator {
  const char* name;     /* "diopiAdd" */
  uint64_t fingerprint; /* DIOPI_FINGERPRINT_diopiAdd as the vendor compiled it */
  dl_function_t function;
  uint64_t reserved; /* zero */
} dl_operator_t;

typedef struct dl_vendor dl_vendor_t;

typedef struct dl_vendor_table {
  uint64_t struct_size;
  dl_extension_t* extensions; /* extensions of the table; each type at most once */
  const char* name;           /* short and lower case: "cpu", "rocm" */
  const char* version;        /* of the library, for messages only */
  uint64_t capabilities;

  /* Frees the instance. No slot may be called after it; NULL is not allowed here. */
  void (*destroy)(dl_vendor_t* vendor);

  /* 1 if a driver and a device seem to be installed; 0 otherwise. Uses neither of them. */
  dl_status_t* (*present)(dl_vendor_t* vendor, int32_t* present);

  /* Devices are numbered 0 … count-1. No driver or no device is count 0, not an error. */
  dl_status_t* (*device_count)(dl_vendor_t* vendor, int32_t* count);
  dl_status_t* (*device_properties)(dl_vendor_t* vendor, int32_t device,
                                    dl_device_properties_t* properties);
  dl_status_t* (*device_synchronize)(dl_vendor_t* vendor, int32_t device);

  /* Device memory, at least 64-byte aligned. bytes > 0. A failure is DL_OUT_OF_MEMORY. The caller
   * frees only memory that no enqueued work uses. */
  dl_status_t* (*memory_allocate)(dl_vendor_t* vendor, int32_t device, uint64_t bytes,
                                  void** memory);
  dl_status_t* (*memory_free)(dl_vendor_t* vendor, int32_t device, void* memory);
  dl_status_t* (*memory_info)(dl_vendor_t* vendor, int32_t device, uint64_t* free_bytes,
                              uint64_t* total_bytes);
  /* Page-locked host memory for asynchronous copies. */
  dl_status_t* (*host_allocate)(dl_vendor_t* vendor, uint64_t bytes, void** memory);
  dl_status_t* (*host_free)(dl_vendor_t* vendor, void* memory);
  /* Enqueued on `stream`. The host side may be pageable: then the call returns when the host memory
   * is free to be reused or valid to be read, unless the memory came from host_allocate. */
  dl_status_t* (*memory_copy)(dl_vendor_t* vendor, int32_t device, void* destination,
                              const void* source, uint64_t bytes, int32_t kind, void* stream);
  dl_status_t* (*memory_set)(dl_vendor_t* vendor, int32_t device, void* memory, int32_t value,
                             uint64_t bytes, void* stream);

  /* Streams. NULL is the default stream of the device that the call names, or whose index is in the
   * context; it need not be created. A lower number is a higher priority. */
  dl_status_t* (*stream_create)(dl_vendor_t* vendor, int32_t device, int32_t priority,
                                void** stream);
  dl_status_t* (*stream_destroy)(dl_vendor_t* vendor, int32_t device, void* stream);
  dl_status_t* (*stream_synchronize)(dl_vendor_t* vendor, int32_t device, void* stream);
  dl_status_t* (*stream_query)(dl_vendor_t* vendor, int32_t device, void* stream,
                               int32_t* finished);
  dl_status_t* (*stream_wait_event)(dl_vendor_t* vendor, int32_t device, void* stream, void* event);

  /* Events. An event that was never recorded counts as finished. */
  dl_status_t* (*event_create)(dl_vendor_t* vendor, int32_t device, uint64_t flags, void** event);
  dl_status_t* (*event_destroy)(dl_vendor_t* vendor, int32_t device, void* event);
  dl_status_t* (*event_record)(dl_vendor_t* vendor, int32_t device, void* event, void* stream);
  dl_status_t* (*event_synchronize)(dl_vendor_t* vendor, int32_t device, void* event);
  dl_status_t* (*event_query)(dl_vendor_t* vendor, int32_t device, void* event, int32_t* finished);
  /* Milliseconds between two finished events created with DL_EVENT_TIMING. */
  dl_status_t* (*event_elapsed)(dl_vendor_t* vendor, int32_t device, void* start, void* end,
                                double* milliseconds);

  /* The operators of this library: an array that lives as long as the instance. */
  dl_status_t* (*operators)(dl_vendor_t* vendor, const dl_operator_t** operators, uint64_t* count);
  /* Why the last operator on this thread failed, or declined the call; valid until the thread's
   * next call. May return NULL. */
  const char* (*last_error)(dl_vendor_t* vendor);

  /* Makes `device` the calling thread's current device in the vendor's driver. A host calls it on
   * that thread before every slot with a device argument and before every operator, because other
   * code on the thread may have selected another device since. NULL if a vendor does not need a
   * current device or sets it itself; then the host makes no call. */
  dl_status_t* (*device_set)(dl_vendor_t* vendor, int32_t device);
  /* append new slots here, never reorder */
} dl_vendor_table_t;

/* An instance begins with its table; a vendor appends fields of its own. */
struct dl_vendor {
  const dl_vendor_table_t* table;
};

/* The one exported symbol. `host` outlives the instance. Does not use the driver. On failure *out
 * is unchanged. */
typedef dl_status_t* (*dl_vendor_entry_v1_t)(const dl_host_t* host, dl_vendor_t** out);
DL_EXPORT dl_status_t* dl_vendor_v1(const dl_host_t* host, dl_vendor_t** out);

DL_EXTERN_C_END
#endif
