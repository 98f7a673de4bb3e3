/* Trying a library in a process that may die of it: libdl_host.so. Not part of the contract: no
 * vendor sees it. */
#ifndef DL_TRIAL_H_
#define DL_TRIAL_H_

#include "dl/base.h"

DL_EXTERN_C_BEGIN

typedef struct dl_trial_request {
  const char* library;
  const char* legacy_runtime;    /* libdiopirt.so.1 for a library in DIOPI's style; else NULL */
  const char* const* companions; /* libraries to load beforehand, ended by NULL */
  int32_t report;                /* descriptor that takes lines of JSON */
  int32_t waiting;               /* the process that waits for them: without it, all ends */
  double seconds;
} dl_trial_request_t;

/* To be called in a process of its own, which it spoils: loads the library in a child of that, asks
 * for all that a host asks for at its start, and writes what comes of it. The last line says how
 * the child ended; whatever the library has started is killed before it is written. */
void dl_trial(const dl_trial_request_t* request);

DL_EXTERN_C_END
#endif
