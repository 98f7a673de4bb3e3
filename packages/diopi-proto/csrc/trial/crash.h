// Report of the file in which a trial crashed: the vendor's library, or a driver that it loads.
#ifndef DL_TRIAL_CRASH_H_
#define DL_TRIAL_CRASH_H_

#include "trial/report.h"

namespace dl::trial {

// Installs signal handlers that report the file whose code raised a fatal signal. If the library
// replaces the handlers, nothing is reported.
void report_crashes(const Report& report);

}  // namespace dl::trial

#endif  // DL_TRIAL_CRASH_H_
