/* What an adaptor.yaml asks for, put between a host and the operators of a vendor: tensors are cast
 * and laid out anew before a call, and its results brought back. docs/adaptor.md is for those who
 * write such a file. diopi_proto.adaptor reads it and makes the rules; the wheel's libdl_host.so
 * follows them, for all hosts alike. Not part of the contract: no vendor sees it. */
#ifndef DL_ADAPTOR_H_
#define DL_ADAPTOR_H_

#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

/* dl_adaptor_rule_t.direction: as in the schema, and handles that the operator stores. */
typedef enum {
  DL_ADAPTOR_IN = 0,
  DL_ADAPTOR_OUT = 1,
  DL_ADAPTOR_INOUT = 2,
  DL_ADAPTOR_STORED = 3,
} dl_adaptor_direction_t;

/* Bits of dl_adaptor_rule_t.flags. */
#define DL_ADAPTOR_WRAP (1u << 0)   /* integer results keep their low bits: no check */
#define DL_ADAPTOR_VENDOR (1u << 1) /* the library's diopiCastDtype finds what does not fit */

#define DL_ADAPTOR_DTYPES 32

/* What becomes of one tensor parameter of one operator. */
typedef struct dl_adaptor_rule {
  const char* operator_name;
  const char* parameter;
  int32_t position;       /* among the operator's parameters, of which the context is 0 */
  int32_t direction;      /* dl_adaptor_direction_t */
  int32_t count_position; /* of the int64_t that counts an array's handles; -1: `count` does */
  int32_t count;          /* handles at the pointer; 0: the parameter is a handle itself */
  int32_t layout;         /* dl_format_t; DL_FORMAT_STRIDED: any, and no more is asked for */
  int32_t stored_dtype;   /* what the host expects of a stored handle; -1: as `stored_like` */
  int32_t stored_like;    /* position of the parameter whose dtype a stored handle has; -1: any */
  uint32_t flags;
  uint8_t cast[DL_ADAPTOR_DTYPES]; /* what each diopiDtype_t becomes; itself: nothing else */
} dl_adaptor_rule_t;

/* How often one thing was done. */
typedef struct dl_adaptor_count {
  const char* operator_name; /* this and the next live as long as the adaptor */
  const char* parameter;
  int32_t from_dtype;
  int32_t to_dtype;
  int32_t from_format; /* dl_format_t */
  int32_t to_format;
  int32_t result;  /* 1: brought back to where the host expects it; 0: on the way in */
  int32_t on_host; /* 1: by the host, which waited for the stream; 0: by the vendor */
  uint64_t times;
} dl_adaptor_count_t;

/* The adaptor of one instance of a library. Hosts in C++ call its functions by these pointers; they
 * need not link libdl_host.so. */
typedef struct dl_adaptor dl_adaptor_t;
struct dl_adaptor {
  uint64_t struct_size;
  /* Stores in *adapted a copy of the `count` operators of an instance, in which those that have a
   * rule lead through the adaptor; it lives as long as the adaptor does. `vendor` is the instance
   * as it stands in contexts, `checked` the one of dl/checked.h around it. Called once. */
  dl_status_t* (*bind)(dl_adaptor_t* adaptor, dl_vendor_t* vendor, dl_vendor_t* checked,
                       const dl_operator_t* operators, uint64_t count,
                       const dl_operator_t** adapted);
  /* Why the adaptor itself failed the operator that this thread called last; NULL where it did not,
   * and the vendor's last_error has the reason. Valid until the thread's next call. */
  const char* (*last_error)(dl_adaptor_t* adaptor, const char* operator_name);
};

/* A copy of the rules is kept. NULL where memory is short. */
dl_adaptor_t* dl_adaptor_make(const dl_adaptor_rule_t* rules, uint64_t count);
/* No operator of its instance may run any more. */
void dl_adaptor_destroy(dl_adaptor_t* adaptor);
/* Writes the first `size` counts; returns how many there are. */
uint64_t dl_adaptor_counts(dl_adaptor_t* adaptor, dl_adaptor_count_t* counts, uint64_t size);
void dl_adaptor_reset_counts(dl_adaptor_t* adaptor);

DL_EXTERN_C_END
#endif
