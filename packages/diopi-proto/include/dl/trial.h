/* Trial of a vendor library in a child process that may crash; part of libdl_host.so. Not part of
 * the contract: vendors do not use this header. */
#ifndef DL_TRIAL_H_
#define DL_TRIAL_H_

#include "dl/base.h"

DL_EXTERN_C_BEGIN

typedef struct dl_trial_request {
  const char* library;
  const char* legacy_runtime;    /* libdiopirt.so.1 for a library in DIOPI's style; else NULL */
  const char* const* companions; /* libraries to load beforehand, ended by NULL */
  const char* added_to; /* vendor of a library of dl/added_operators.h; NULL: a vendor's library */
  int32_t report;       /* file descriptor to which lines of JSON are written */
  int32_t waiting;      /* process that reads them; if it ends, the trial ends too */
  double seconds;
} dl_trial_request_t;

/* Runs a trial. Call it in a dedicated process, because it changes signal handlers and descriptors.
 * It loads the library in a child process, makes the calls that a host makes at startup, and writes
 * the results. The last line reports how the child ended; processes that the library has started
 * are killed before that line is written. */
void dl_trial(const dl_trial_request_t* request);

DL_EXTERN_C_END
#endif
