// The part of a trial that touches the library, and may die of it.
#ifndef DL_TRIAL_LIBRARY_H_
#define DL_TRIAL_LIBRARY_H_

#include "dl/trial.h"
#include "trial/report.h"

namespace dl::trial {

// Loads the library and asks it for all that a host asks for at its start.
[[noreturn]] void try_library(const dl_trial_request_t& request, const Report& report);

}  // namespace dl::trial

#endif  // DL_TRIAL_LIBRARY_H_
