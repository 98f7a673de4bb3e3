/* The error word of a stream: where work that runs on a device leaves what it found wrong with its
 * data, an index out of range or a division by zero, so that no operator waits to learn of it.
 *
 * The host owns one for each stream of an asynchronous device, in memory of the device, all zero at
 * first. An operator asks for its address while it runs (dl_context_device_error in dl/context.h)
 * and enqueues the check with its work. When somebody waits for the stream, the host reads the
 * word, clears it, and raises the error there, with the name of the operator. Only streams that
 * were asked for are read.
 *
 * A kernel that finds an error moves `state` from DL_DEVICE_ERROR_NONE to DL_DEVICE_ERROR_WRITING
 * by an atomic compare-and-swap; if that fails another error was first, and this one is dropped.
 * Then it fills the rest, makes that visible to the whole device (a fence), and stores
 * DL_DEVICE_ERROR_RAISED. Everything that follows runs all the same, with the bad data: the
 * operator sees to it that nothing is read or written outside of its tensors. What it has then
 * written into its outputs means nothing.
 *
 * An operator that gets no word - from an older host, or a synchronous one - checks and fails at
 * once. */
#ifndef DL_DEVICE_ERROR_H_
#define DL_DEVICE_ERROR_H_

#include "dl/base.h"

DL_EXTERN_C_BEGIN

/* dl_device_error_t.state */
typedef enum {
  DL_DEVICE_ERROR_NONE = 0,
  DL_DEVICE_ERROR_WRITING = 1,
  DL_DEVICE_ERROR_RAISED = 2,
} dl_device_error_state_t;

/* dl_device_error_t.kind: of the exception that a host raises. Unknown ones are as OTHER. */
typedef enum {
  DL_DEVICE_ERROR_OTHER = 0,
  DL_DEVICE_ERROR_INDEX = 1,    /* an index, or a class, out of range */
  DL_DEVICE_ERROR_DIVISION = 2, /* an integer division by zero */
  DL_DEVICE_ERROR_NUMBER = 3,   /* a number that is none of those allowed: a probability of 2 */
} dl_device_error_kind_t;

/* Its layout is frozen for good. */
typedef struct dl_device_error {
  uint32_t state;
  uint32_t kind;
  int64_t value;
  int64_t position;
  int64_t low;
  int64_t high;
  double number;
  char operator_name[64]; /* terminated: "diopiGather" */
  /* One line, terminated; the names of the five fields above in braces stand for what they hold:
   * "index {value} at position {position} is out of range [{low}, {high})". */
  char text[128];
  uint64_t reserved[2]; /* zero */
} dl_device_error_t;

DL_EXTERN_C_END
#endif
