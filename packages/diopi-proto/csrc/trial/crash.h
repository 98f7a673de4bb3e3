// Says where a trial crashed: the vendor's own library, or the driver that it loads.
#ifndef DL_TRIAL_CRASH_H_
#define DL_TRIAL_CRASH_H_

#include "trial/report.h"

namespace dl::trial {

// From here on the report says in which file a signal was raised that ends this process. A library
// may take the handlers away; then nothing is said.
void report_crashes(const Report& report);

}  // namespace dl::trial

#endif  // DL_TRIAL_CRASH_H_
