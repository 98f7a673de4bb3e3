// Recorder of a thread's vendor calls: calls of operators with their arguments, and the events
// between them. A graph compiler builds contract graphs from a recording.
#pragma once

#include <c10/macros/Macros.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "dl/vendor.h"

namespace dl::core {

// Number of recording threads.
inline std::atomic<int> recording_threads{0};
inline bool is_recorded() {
  return C10_UNLIKELY(recording_threads.load(std::memory_order_relaxed) != 0);
}

// Records an event: "host" (the CPU computes on device tensors), "kernel" (the program launches a
// kernel of its own), "late error" (the operator detects errors in its data asynchronously).
void record_event(const char* what);
void record_copy(dl_copy_kind_t kind, const void* to, const void* from, size_t bytes);

struct RecordedTensor {
  uintptr_t data;
  int32_t dtype;  // diopiDtype_t
  bool on_host;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};
struct RecordedScalar {
  int32_t dtype;
  std::variant<int64_t, double> value;
};
struct RecordedGenerator {};

using RecordedValue =
    std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<int64_t>,
                 RecordedTensor, RecordedScalar, RecordedGenerator,
                 std::vector<std::variant<std::monostate, RecordedTensor>>>;

struct Recorded {
  std::string name;  // name of the contract operator or of the event
  bool is_call;
  std::vector<RecordedValue> arguments;
};

// Starts to record this thread: recording functions replace the functions of all vendors, so calls
// have no overhead while no thread records. `opaque`: operators whose arguments are not recorded,
// because their arrays are not followed by a length. `placeholders`: integer tensors hold
// placeholder values. Operators must not read them on the CPU, whose kernels check less than those
// of a vendor.
void start_recording(std::vector<std::string> opaque, bool placeholders);
// Returns true if this thread records with placeholder values.
bool records_placeholders();
// Returns the calls recorded since the start or the last take.
std::vector<Recorded> take_recorded();
void end_recording();

}  // namespace dl::core
