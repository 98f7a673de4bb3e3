/* The adaptor: a layer between a host and the operators of a vendor that follows an adaptor.yaml.
 * It converts tensors to the dtype and memory format that the vendor supports before a call, and
 * converts the results back. docs/adaptor.md documents the file. diopi_proto.adaptor parses it into
 * rules; the wheel's libdl_host.so applies them, in the same way for all hosts. Not part of the
 * contract: vendors do not use this header. */
#ifndef DL_ADAPTOR_H_
#define DL_ADAPTOR_H_

#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

/* dl_adaptor_rule_t.direction: the schema's directions, and STORED for handles that the operator
 * allocates and returns. */
typedef enum {
  DL_ADAPTOR_IN = 0,
  DL_ADAPTOR_OUT = 1,
  DL_ADAPTOR_INOUT = 2,
  DL_ADAPTOR_STORED = 3,
} dl_adaptor_direction_t;

/* Bits of dl_adaptor_rule_t.flags. */
#define DL_ADAPTOR_WRAP (1u << 0)   /* integers wrap around when narrowed; no range check */
#define DL_ADAPTOR_VENDOR (1u << 1) /* the library's diopiCastDtype checks the range */

#define DL_ADAPTOR_DTYPES 32

/* Conversions of one tensor parameter of one operator. */
typedef struct dl_adaptor_rule {
  const char* operator_name;
  const char* parameter;
  int32_t position;       /* among the operator's parameters, of which the context is 0 */
  int32_t direction;      /* dl_adaptor_direction_t */
  int32_t count_position; /* of the int64_t parameter with the array's length; -1: use `count` */
  int32_t count;          /* length of the array of handles; 0: the parameter is one handle */
  int32_t layout;         /* required dl_format_t; DL_FORMAT_STRIDED: any */
  int32_t stored_dtype;   /* dtype that the host expects of a stored handle; -1: `stored_like` */
  int32_t stored_like;    /* position of the parameter whose dtype a stored handle has; -1: any */
  uint32_t flags;
  uint8_t cast[DL_ADAPTOR_DTYPES]; /* target of each diopiDtype_t; itself if not converted */
} dl_adaptor_rule_t;

/* Number of conversions of one kind. */
typedef struct dl_adaptor_count {
  const char* operator_name; /* this and the next live as long as the adaptor */
  const char* parameter;
  int32_t from_dtype;
  int32_t to_dtype;
  int32_t from_format; /* dl_format_t */
  int32_t to_format;
  int32_t result;  /* 1: a result, converted back after the call; 0: an argument before the call */
  int32_t on_host; /* 1: converted by the host, which waited for the stream; 0: by the vendor */
  uint64_t times;
} dl_adaptor_count_t;

/* The adaptor of one instance of a library. C++ hosts call its functions through these pointers and
 * do not link libdl_host.so. */
typedef struct dl_adaptor dl_adaptor_t;
struct dl_adaptor {
  uint64_t struct_size;
  /* Stores in *adapted a copy of the `count` operators of an instance, in which operators with a
   * rule are replaced by adapted ones, or the operators of another library (dl/legacy.h); the copy
   * lives as long as the adaptor. `vendor` is the
   * instance that contexts refer to, `checked` its wrapper of dl/checked.h. Called once. */
  dl_status_t* (*bind)(dl_adaptor_t* adaptor, dl_vendor_t* vendor, dl_vendor_t* checked,
                       const dl_operator_t* operators, uint64_t count,
                       const dl_operator_t** adapted);
  /* Reason why the adaptor itself failed the operator that this thread called last. NULL if it did
   * not; the vendor's last_error then has the reason. Valid until the thread's next call. */
  const char* (*last_error)(dl_adaptor_t* adaptor, const char* operator_name);
  /* Number of operators that `bind` has stored; NULL: as many as it was given. */
  uint64_t (*bound_count)(dl_adaptor_t* adaptor);
};

/* Creates an adaptor with a copy of the rules. Returns NULL if memory is short. */
dl_adaptor_t* dl_adaptor_make(const dl_adaptor_rule_t* rules, uint64_t count);
/* Call only when no operator of its instance runs any more. */
void dl_adaptor_destroy(dl_adaptor_t* adaptor);
/* Writes the first `size` counts and returns the number available. */
uint64_t dl_adaptor_counts(dl_adaptor_t* adaptor, dl_adaptor_count_t* counts, uint64_t size);
void dl_adaptor_reset_counts(dl_adaptor_t* adaptor);

DL_EXTERN_C_END
#endif
