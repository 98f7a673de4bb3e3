// The part of a trial that calls the library and may crash.
#ifndef DL_TRIAL_LIBRARY_H_
#define DL_TRIAL_LIBRARY_H_

#include "dl/trial.h"
#include "trial/report.h"

namespace dl::trial {

// Loads the library and makes the calls that a host makes at startup.
[[noreturn]] void try_library(const dl_trial_request_t& request, const Report& report);

}  // namespace dl::trial

#endif  // DL_TRIAL_LIBRARY_H_
