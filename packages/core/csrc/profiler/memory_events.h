#pragma once

namespace dl::core::profiler {

// Enables or disables reporting of allocations and frees to torch's profiler, which records them
// with profile_memory=True.
void report_memory(bool on);

}  // namespace dl::core::profiler
