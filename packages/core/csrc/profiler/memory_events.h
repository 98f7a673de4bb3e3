#pragma once

namespace dl::core::profiler {

// Tells torch's profiler, from now on or no more, of every block that is handed out or comes back;
// it listens with profile_memory=True.
void report_memory(bool on);

}  // namespace dl::core::profiler
