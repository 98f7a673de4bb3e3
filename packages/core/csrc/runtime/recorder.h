// A record of what this thread asks of the vendor: each call of an operator with its arguments, and
// what happens beside calls. A graph compiler makes contract graphs of it.
#pragma once

#include <c10/macros/Macros.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "dl/vendor.h"

namespace dl::core {

// Whether any thread records.
inline std::atomic<int> recording_threads{0};
inline bool is_recorded() {
  return C10_UNLIKELY(recording_threads.load(std::memory_order_relaxed) != 0);
}

// What is no call of an operator: "host" (the CPU computes on the device's tensors), "late error"
// (the operator may find its data wrong only when it runs).
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
  std::string name;  // of the contract's operator, or of the event
  bool is_call;
  std::vector<RecordedValue> arguments;
};

// From now on, what this thread does is recorded: functions that tell stand in for those of all
// vendors, so that a call costs nothing more where no thread records. `opaque`: operators of which
// no arguments are read, because they have arrays that the next integer does not count. `made_up`:
// the values of integers mean nothing, so that no operator may run on the CPU with any: those check
// less than a vendor's.
void start_recording(std::vector<std::string> opaque, bool made_up);
// Whether this thread records made-up values.
bool records_made_up_values();
// What was recorded since the start, or since the last take.
std::vector<Recorded> take_recorded();
void end_recording();

}  // namespace dl::core
