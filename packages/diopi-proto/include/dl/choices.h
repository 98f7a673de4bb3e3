/* The choices extension: which of several implementations serves a call, asked and told.
 *
 * A vendor that has more than one implementation of an operation (a library, its own kernels, a
 * number of threads) takes one by a rule of its own. It makes that choice at a choice point, for a
 * key: the name of the point and numbers that say everything about the call that its time may
 * depend on. A host records the keys that a program meets, measures what may be chosen for each,
 * and installs a table of what it found, in which the vendor looks up exact keys from then on.
 *
 * The table is of the library's copy in this process: instances and devices whose calls it serves
 * share it. Looking up takes no lock. Without a table all is as if there were no such extension,
 * bit by bit. */
#ifndef DL_CHOICES_H_
#define DL_CHOICES_H_

#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

#define DL_CHOICE_MOST_VALUES 64

/* What a choice is made for. What the numbers mean is the vendor's; a key that is equal means the
 * same call to the same release of it. The layout is final: tables are arrays of it. */
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
  /* One line of all that a measured choice depends on besides its key: releases of the vendor, of
   * its libraries and of the driver, and the device. Entries that were measured under another
   * identity are not to be installed. */
  char identity[1024];
} dl_choice_properties_t;

/* A key that was met. */
typedef struct dl_choice_record {
  uint64_t struct_size;
  dl_choice_key_t key;
  uint64_t calls;    /* 0: there is no record with this number */
  char choices[512]; /* what may be chosen, names with spaces between; untuned the first one is
                        tried first. One that declines a call leaves it to the others */
} dl_choice_record_t;

/* Since the library was loaded. */
typedef struct dl_choice_statistics {
  uint64_t struct_size;
  uint64_t entries; /* of the table that is installed */
  uint64_t hits;
  uint64_t misses; /* keys that it did not have */
} dl_choice_statistics_t;

typedef struct dl_choices_extension {
  uint64_t struct_size;
  uint64_t type; /* DL_EXT_CHOICES */
  dl_extension_t* next;

  dl_status_t* (*properties)(dl_vendor_t* vendor, int32_t device,
                             dl_choice_properties_t* properties);
  /* The table from now on, in place of the one before; none if `count` is 0. A point or a choice
   * that the vendor does not have is DL_INVALID_ARGUMENT, which names the entry, and the table
   * stays as it was. */
  dl_status_t* (*install)(dl_vendor_t* vendor, int32_t device, const dl_choice_entry_t* entries,
                          uint64_t count);
  /* `wanted` is called once, by the first thread that comes to a choice point, before it looks up:
   * time to install a table for a process that needs one. Other threads go on without. NULL takes
   * the request back. */
  dl_status_t* (*request)(dl_vendor_t* vendor, int32_t device, void (*wanted)(void* self),
                          void* self);
  /* Record the keys that are met from now on, the first `capacity` ones; 0 ends it. Either way
   * nothing is recorded yet afterwards. */
  dl_status_t* (*record)(dl_vendor_t* vendor, int32_t device, uint64_t capacity);
  /* The record with a number, counted from 0 in the order in which keys were first met. */
  dl_status_t* (*recorded)(dl_vendor_t* vendor, int32_t device, uint64_t number,
                           dl_choice_record_t* record);
  dl_status_t* (*statistics)(dl_vendor_t* vendor, int32_t device,
                             dl_choice_statistics_t* statistics);
  /* append new slots here, never reorder */
} dl_choices_extension_t;

DL_EXTERN_C_END
#endif
