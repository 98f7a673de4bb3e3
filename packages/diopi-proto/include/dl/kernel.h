/* The kernel extension: compiles source text, loads the compiled code, and launches its functions.
 *
 * Any slot may be called from any thread, and several compilations may run at once. */
#ifndef DL_KERNEL_H_
#define DL_KERNEL_H_

#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

/* Kernel capabilities and limits of a device. A limit of 0 means unlimited. */
typedef struct dl_kernel_properties {
  uint64_t struct_size;
  char languages[128];   /* that `compile` accepts, separated by commas: "c++", "cuda", "opencl" */
  char architecture[64]; /* target of the code: "x86-64-v4", "sm_90", "gfx942" */
  char compiler[256];    /* path or name of the compiler with its version; empty without one */
  char unavailable[256]; /* why `compile` cannot work, and the remedy; empty if it can */
  uint32_t max_grid[3];  /* blocks */
  uint32_t max_block[3]; /* threads of a block */
  uint32_t max_block_threads;
  uint32_t warp_size;
  uint64_t max_shared_bytes; /* of a block */
  uint64_t max_argument_bytes;
} dl_kernel_properties_t;

/* A file that the source can include by its name. */
typedef struct dl_kernel_header {
  const char* name;
  const char* text;
} dl_kernel_header_t;

typedef struct dl_kernel_source {
  uint64_t struct_size;
  const char* language;       /* one of dl_kernel_properties_t.languages */
  const char* name;           /* of the source in messages: "softmax.cpp"; not a path */
  const char* text;           /* UTF-8, terminated */
  const char* const* options; /* compiler options, one word each; the vendor rejects options that
                                 name an output or run a program */
  uint64_t option_count;
  const dl_kernel_header_t* headers;
  uint64_t header_count;
  double seconds; /* timeout of the compiler; 0: the vendor's default */
} dl_kernel_source_t;

/* Compiled code, in the vendor's own format. */
typedef struct dl_kernel_code {
  uint64_t struct_size;
  const void* bytes; /* may be cached in a file and loaded by another process with the same vendor
                        release, on a device of the same architecture; valid until release */
  uint64_t size;
  const char* log; /* the compiler's warnings; NULL if there are none */
  uint64_t flags;  /* DL_KERNEL_CODE_* */
  void (*release)(struct dl_kernel_code* self);
} dl_kernel_code_t;

#define DL_KERNEL_CODE_CACHED (UINT64_C(1) << 0) /* from the cache of an earlier compilation */

/* Resource usage of a function. -1: unknown to the vendor. */
typedef struct dl_kernel_function_properties {
  uint64_t struct_size;
  int64_t registers;    /* per thread */
  int64_t spill_bytes;  /* per thread: registers that were spilled to memory */
  int64_t local_bytes;  /* per thread: its stack, including spilled registers */
  int64_t shared_bytes; /* static shared memory per block, without the launch's shared_bytes */
  int64_t constant_bytes;
  int64_t max_block_threads;
  int64_t code_bytes;
} dl_kernel_function_properties_t;

#define DL_KERNEL_VALUE 0u  /* copied unchanged */
#define DL_KERNEL_MEMORY 1u /* a device address of 8 bytes, or NULL */

typedef struct dl_kernel_argument {
  uint32_t offset; /* bytes from dl_kernel_launch_t.arguments; a multiple of the type's alignment in
                      C, which is at most 16 */
  uint32_t size;   /* bytes */
  uint32_t kind;   /* DL_KERNEL_VALUE or DL_KERNEL_MEMORY */
  uint32_t reserved; /* zero */
} dl_kernel_argument_t;

typedef struct dl_kernel_launch {
  uint64_t struct_size;
  uint32_t grid[3];      /* blocks, each at least 1 */
  uint32_t block[3];     /* threads of a block, each at least 1 */
  uint64_t shared_bytes; /* dynamic shared memory, in addition to the function's static one */
  void* stream;
  const void* arguments; /* packed, 16-byte aligned. Copied before the call returns */
  uint64_t argument_bytes;
  const dl_kernel_argument_t* layout; /* of the function's parameters, in their order */
  uint64_t argument_count;
  uint64_t flags; /* zero */
} dl_kernel_launch_t;

typedef struct dl_kernel_extension {
  uint64_t struct_size;
  uint64_t type; /* DL_EXT_KERNEL */
  dl_extension_t* next;

  /* Must not initialize the driver or run a program: `dl doctor` calls it. */
  dl_status_t* (*properties)(dl_vendor_t* vendor, int32_t device,
                             dl_kernel_properties_t* properties);

  /* Compiles source text for the architecture of `device`. DL_INVALID_ARGUMENT if the compiler
   * rejects the source, with its log as `details`; DL_UNAVAILABLE without a compiler. The same
   * source gives the same functions; the vendor may return cached code. */
  dl_status_t* (*compile)(dl_vendor_t* vendor, int32_t device, const dl_kernel_source_t* source,
                          dl_kernel_code_t** code);

  /* Loads compiled code. The caller must trust the bytes, which run with the rights of the process.
   * The bytes need not outlive the call. */
  dl_status_t* (*load)(dl_vendor_t* vendor, int32_t device, const void* bytes, uint64_t size,
                       void** module);
  /* No enqueued work may use the module. */
  dl_status_t* (*unload)(dl_vendor_t* vendor, int32_t device, void* module);
  /* Finds an exported function of the source by name; it lives as long as the module. An unknown
   * name is DL_INVALID_ARGUMENT. */
  dl_status_t* (*find)(dl_vendor_t* vendor, int32_t device, void* module, const char* name,
                       void** function);
  dl_status_t* (*function_properties)(dl_vendor_t* vendor, int32_t device, void* function,
                                      dl_kernel_function_properties_t* properties);

  /* Enqueues the function on launch->stream. A grid, block or shared memory beyond the limits is
   * DL_INVALID_ARGUMENT, and nothing is enqueued. */
  dl_status_t* (*launch)(dl_vendor_t* vendor, int32_t device, void* function,
                         const dl_kernel_launch_t* launch);
  /* append new slots here, never reorder */
} dl_kernel_extension_t;

DL_EXTERN_C_END
#endif
