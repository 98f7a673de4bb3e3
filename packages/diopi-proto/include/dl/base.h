/* Macros and types shared by every header of the vendor interface. Plain C11, also valid C++17. */
#ifndef DL_BASE_H_
#define DL_BASE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define DL_EXTERN_C_BEGIN extern "C" {
#define DL_EXTERN_C_END }
#define DL_STATIC_ASSERT static_assert
#else
#include <assert.h>
#define DL_EXTERN_C_BEGIN
#define DL_EXTERN_C_END
#define DL_STATIC_ASSERT _Static_assert
#endif

/* Libraries are built with -fvisibility=hidden; this exports the few public symbols. */
#define DL_EXPORT __attribute__((visibility("default")))

/* True when the struct behind `ptr`, whose writer set struct_size, is long enough to hold `field`.
 * This is the only version test: minor versions are never compared. */
#define DL_HAS_FIELD(ptr, type, field) \
  ((ptr) != NULL && (ptr)->struct_size >= offsetof(type, field) + sizeof((ptr)->field))

/* One link of an extension chain. Every extension struct starts with these three fields.
 * `type` numbers are listed in dl/vendor.h; a reader skips types that it does not know. */
typedef struct dl_extension {
  uint64_t struct_size;
  uint64_t type;
  struct dl_extension* next;
} dl_extension_t;

#endif
