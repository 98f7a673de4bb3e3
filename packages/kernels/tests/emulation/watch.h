// Checks of the memory accesses of kernels, for units compiled with -fsanitize=thread, whose hooks
// watch.cpp implements in place of the sanitizer's library. Each finding is reported once per code
// address, on stderr and in the file that the variable DL_EMULATION_FINDINGS names: out of bounds,
// uninitialized, misaligned, race, divergent barrier.
#ifndef DL_KERNELS_TESTS_WATCH_H_
#define DL_KERNELS_TESTS_WATCH_H_

#include <cstddef>
#include <cstdint>

namespace emulation {

// A read, a write, or both at once.
enum class Kind { kRead, kWrite, kUpdate };

// Note that a watched unit has started; return whether any has.
void note_unit();
bool is_watched();
// Check an access of the running kernel, if there is one. Volatile accesses count as atomic.
void note(const volatile void* address, size_t size, Kind kind, bool atomic, const void* place);
// Order the thread's earlier accesses before its later ones.
void note_fence();

// Report a defect of the running kernel. `place` is a code address, or null.
void report(const char* kind, const char* what, const void* place);
// Number of reports.
uint64_t findings();

// Begin a kernel of this name or, with null, other work.
void watch_work(const char* kernel);
// End the work: later accesses do not belong to a kernel.
void watch_end();
// Note that a block begins, a thread continues, all threads of the block have met, or those of the
// warp that begins with this thread.
void watch_block(int64_t block);
void watch_thread(int thread);
void watch_barrier();
void watch_warp_barrier(int first);

// From here on, report an access that crashes the process, and stop.
void expect_crashes();
void expect_no_crashes();

}  // namespace emulation

#endif  // DL_KERNELS_TESTS_WATCH_H_
