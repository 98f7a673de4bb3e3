/* The choices extension: autotuning of a vendor that has several implementations of an operation.
 *
 * A vendor with more than one implementation of an operation (a library, its own kernels, several
 * thread counts) selects one by a heuristic. It makes that choice at a choice point, for a key: the
 * name of the point, and integers that determine everything on which the time of the call may
 * depend. A host records the keys that occur in a program, measures the candidates for each key,
 * and installs a table of the fastest. From then on the vendor looks up exact keys in that table.
 *
 * The table belongs to the loaded copy of the library in this process: all instances and devices
 * share it. A lookup takes no lock. Without a table, results are bit-identical to those of a vendor
 * without this extension. */
#ifndef DL_CHOICES_H_
#define DL_CHOICES_H_

#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

#define DL_CHOICE_MOST_VALUES 64

/* Key of a choice. The vendor defines the meaning of the values; equal keys denote the same call
 * for one release of the vendor. The layout is frozen: tables are arrays of it. */
typedef struct dl_choice_key {
  char point[32]; /* terminated: "gemm" */
  uint64_t count; /* of `values` */
  int64_t values[DL_CHOICE_MOST_VALUES];
} dl_choice_key_t;

typedef struct dl_choice_entry {
  dl_choice_key_t key;
  char choice[32]; /* a name of dl_choice_record_t.choices */
} dl_choice_entry_t;

typedef struct dl_choice_properties {
  uint64_t struct_size;
  /* One line with everything except the key on which a measured choice depends: the releases of
   * the vendor, of its libraries and of the driver, and the device. The host must not install
   * entries that were measured under another identity. */
  char identity[1024];
} dl_choice_properties_t;

/* A key that occurred. */
typedef struct dl_choice_record {
  uint64_t struct_size;
  dl_choice_key_t key;
  uint64_t calls;    /* 0: no record has this index */
  char choices[512]; /* names of the candidates, separated by spaces; without a table, the first
                        is tried first. If a candidate declines a call, the next one is tried */
} dl_choice_record_t;

/* Statistics since the library was loaded. */
typedef struct dl_choice_statistics {
  uint64_t struct_size;
  uint64_t entries; /* of the installed table */
  uint64_t hits;
  uint64_t misses; /* lookups of keys that are not in the table */
} dl_choice_statistics_t;

typedef struct dl_choices_extension {
  uint64_t struct_size;
  uint64_t type; /* DL_EXT_CHOICES */
  dl_extension_t* next;

  dl_status_t* (*properties)(dl_vendor_t* vendor, int32_t device,
                             dl_choice_properties_t* properties);
  /* Replaces the table; `count` 0 removes it. An unknown point or choice is DL_INVALID_ARGUMENT,
   * whose message names the entry; the previous table then stays installed. */
  dl_status_t* (*install)(dl_vendor_t* vendor, int32_t device, const dl_choice_entry_t* entries,
                          uint64_t count);
  /* Registers `wanted`, which is called once, by the first thread that reaches a choice point,
   * before its lookup: a host can then install a table in processes that need one. Other threads
   * do not wait for it. NULL withdraws the request. */
  dl_status_t* (*request)(dl_vendor_t* vendor, int32_t device, void (*wanted)(void* self),
                          void* self);
  /* Discards all records, and records the first `capacity` distinct keys that occur from now on;
   * 0 stops recording. */
  dl_status_t* (*record)(dl_vendor_t* vendor, int32_t device, uint64_t capacity);
  /* Returns the record with index `number`; indices start at 0, in the order of the keys' first
   * occurrence. */
  dl_status_t* (*recorded)(dl_vendor_t* vendor, int32_t device, uint64_t number,
                           dl_choice_record_t* record);
  dl_status_t* (*statistics)(dl_vendor_t* vendor, int32_t device,
                             dl_choice_statistics_t* statistics);
  /* append new slots here, never reorder */
} dl_choices_extension_t;

DL_EXTERN_C_END
#endif
