/* Operators of a library in DIOPI's own style on the devices of a vendor table. Such a library has
 * neither devices nor memory; the table of another library, its runtime, has. The wheel's
 * libdl_host.so checks the arguments of a call, sets the current context of libdiopirt.so.1 and
 * calls the library, in the same way for all hosts. Not part of the contract: vendors do not use
 * this header. */
#ifndef DL_LEGACY_H_
#define DL_LEGACY_H_

#include "dl/adaptor.h"

DL_EXTERN_C_BEGIN

/* dl_legacy_rule_t.kind: the test of an argument. */
typedef enum {
  DL_LEGACY_REQUIRED = 0, /* a tensor, or the tensors of an array, must not be NULL */
  DL_LEGACY_DTYPE = 1,    /* the dtype of a tensor is in `dtypes`, or that of `other` if it is 0 */
  DL_LEGACY_SHAPE = 2,    /* a tensor's sizes, or the values of a diopiSize_t, match the pattern */
  DL_LEGACY_EXPANDS = 3,  /* a tensor's sizes broadcast to those of the pattern */
  DL_LEGACY_DIM = 4, /* an integer is, or the values of a diopiSize_t are different, dimensions of
                          `other` */
  DL_LEGACY_REDUCES = 5,    /* a tensor has the sizes of `other` without the dimensions in `dims` */
  DL_LEGACY_JOINS = 6,      /* a tensor has the sizes of the array `other` joined along `dims` */
  DL_LEGACY_BROADCASTS = 7, /* a tensor has the sizes to which `other` and `dims` broadcast */
  DL_LEGACY_HOLDS = 8,      /* a tensor has as many elements as the sizes of the pattern */
} dl_legacy_kind_t;

/* dl_legacy_size_t.kind: one word of a pattern. */
typedef enum {
  DL_LEGACY_ANY = 0,      /* any size */
  DL_LEGACY_NUMBER = 1,   /* the size `value` */
  DL_LEGACY_NAME = 2,     /* the size with the number `value`: the same wherever it occurs */
  DL_LEGACY_SEQUENCE = 3, /* any number of sizes, with the number `value`; also the same */
} dl_legacy_size_kind_t;

#define DL_LEGACY_MOST_NAMES 16 /* numbers of names and of sequences are below this */

typedef struct dl_legacy_size {
  int64_t kind;
  int64_t value;
} dl_legacy_size_t;

/* One test of an operator's arguments. Positions are those of parameters; the context is 0. */
typedef struct dl_legacy_rule {
  const char* operator_name;
  const char* parameter;
  const char* text;   /* the rule as it is written, for messages */
  int32_t kind;       /* dl_legacy_kind_t */
  int32_t position;   /* of the tested parameter */
  int32_t type;       /* of the tested parameter: dl_legacy_type_t */
  int32_t count;      /* position of the length of the array; -1: not an array */
  int32_t other;      /* position of another parameter; -1: none */
  int32_t dims;       /* position of a third one; -1: none */
  int32_t dims_type;  /* dl_legacy_type_t of the third one */
  int32_t size_count; /* words of the pattern */
  uint64_t dtypes;    /* bit n: diopiDtype_t n */
  const dl_legacy_size_t* sizes;
} dl_legacy_rule_t;

/* Types of parameters, as far as rules distinguish them. */
typedef enum {
  DL_LEGACY_TENSOR = 0,
  DL_LEGACY_TENSORS = 1,          /* an array of handles */
  DL_LEGACY_SIZES = 2,            /* diopiSize_t */
  DL_LEGACY_INTEGER = 3,          /* int64_t */
  DL_LEGACY_OPTIONAL_INTEGER = 4, /* const int64_t*, may be NULL */
} dl_legacy_type_t;

/* An opened library. The functions outlive its layer; strings and rules are copied. */
typedef struct dl_legacy_library {
  const dl_operator_t* operators; /* fingerprints are ignored */
  uint64_t operator_count;
  const char* (*last_error)(void); /* diopiGetLastErrorString; NULL: the library has none */
  /* diopirt_set_current_context of libdiopirt.so.1 */
  diopiContextHandle_t (*set_current_context)(diopiContextHandle_t ctx);
  const dl_legacy_rule_t* rules;
  uint64_t rule_count;
} dl_legacy_library_t;

/* Creates the layer for the operators of a library. Its `bind` stores the library's operators,
 * followed by those of the runtime that the library does not have. The owner destroys it with
 * dl_legacy_destroy after the last call. Returns NULL if memory is short. */
dl_adaptor_t* dl_legacy_make(const dl_legacy_library_t* library);
void dl_legacy_destroy(dl_adaptor_t* layer);

DL_EXTERN_C_END
#endif
