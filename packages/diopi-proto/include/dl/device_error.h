/* The error word of a stream: kernels report errors in their data there, such as an index out of
 * range or a division by zero, so that no operator has to wait for its own check.
 *
 * The host owns one word for each stream of an asynchronous device, in device memory, initially all
 * zero. A running operator requests its address (dl_context_device_error in dl/context.h) and
 * enqueues the check with its work. When the stream is next synchronized, the host reads the word,
 * clears it, and raises the error there with the name of the operator. It reads only the words
 * whose address was requested.
 *
 * A kernel that finds an error changes `state` from DL_DEVICE_ERROR_NONE to DL_DEVICE_ERROR_WRITING
 * by an atomic compare-and-swap; if that fails, another error was first and this one is dropped.
 * Then it fills the other fields, makes them visible to the whole device (a fence), and stores
 * DL_DEVICE_ERROR_RAISED. Later work still runs, with the invalid data: the operator must not read
 * or write outside of its tensors. The contents of its outputs are then undefined.
 *
 * An operator that gets no word - from an older or a synchronous host - checks and fails at
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

/* dl_device_error_t.kind: selects the exception that a host raises. Unknown kinds count as OTHER.
 */
typedef enum {
  DL_DEVICE_ERROR_OTHER = 0,
  DL_DEVICE_ERROR_INDEX = 1,    /* an index, or a class, out of range */
  DL_DEVICE_ERROR_DIVISION = 2, /* an integer division by zero */
  DL_DEVICE_ERROR_NUMBER = 3,   /* a number outside of the allowed range: a probability of 2 */
} dl_device_error_kind_t;

/* The error word. Its layout is frozen. */
typedef struct dl_device_error {
  uint32_t state;
  uint32_t kind;
  int64_t value;
  int64_t position;
  int64_t low;
  int64_t high;
  double number;
  char operator_name[64]; /* terminated: "diopiGather" */
  /* One terminated line, in which {value}, {position}, {low}, {high} and {number} stand for the
   * fields above: "index {value} at position {position} is out of range [{low}, {high})". */
  char text[128];
  uint64_t reserved[2]; /* zero */
} dl_device_error_t;

DL_EXTERN_C_END
#endif
