// What kernels do to memory, as far as their accesses are reported: those of units that are
// compiled with -fsanitize=thread, whose calls watch.cpp answers in place of the sanitizer's
// library. Findings are said once for each place in the code, on stderr and in the file that the
// variable DL_EMULATION_FINDINGS names: out of bounds, uninitialised, misaligned, race, divergent
// barrier.
#ifndef DL_KERNELS_TESTS_WATCH_H_
#define DL_KERNELS_TESTS_WATCH_H_

#include <cstddef>
#include <cstdint>

namespace emulation {

// A read, a write, or both at once.
enum class Kind { kRead, kWrite, kUpdate };

// A unit that begins says that its accesses are watched; whether one has.
void note_unit();
bool is_watched();
// Looks at an access of the kernel that runs, if one does. A volatile one counts as atomic.
void note(const volatile void* address, size_t size, Kind kind, bool atomic, const void* place);
// What the thread did before comes before what it does after.
void note_fence();

// Says what is wrong with the kernel that runs. `place` is an address of code, or null.
void report(const char* kind, const char* what, const void* place);
// How often something was said.
uint64_t findings();

// Work begins: a kernel of this name, or, with null, what is none.
void watch_work(const char* kernel);
// Work ends: no more accesses are those of a kernel.
void watch_end();
// A block begins, a thread goes on, all threads of the block have met, or those of the warp that
// begins with this one.
void watch_block(int64_t block);
void watch_thread(int thread);
void watch_barrier();
void watch_warp_barrier(int first);

// From here on an access that ends the process is reported, and no longer.
void expect_crashes();
void expect_no_crashes();

}  // namespace emulation

#endif  // DL_KERNELS_TESTS_WATCH_H_
