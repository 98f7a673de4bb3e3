// A vendor that forwards every call to the library that DL_FAULT_LIBRARY names, and spoils one
// argument of one operator: DL_FAULT is "operator,position of the argument,action,condition". It is
// for libraries whose memory the host may access and whose work is done when a call returns.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "../forwarding_vendor.hpp"
#include "conditions.hpp"
#include "dl/handles.h"
#include "dl/operator.hpp"
#include "dl/vendor.h"
#include "spoil.hpp"

namespace faulty {
namespace {

struct Fault {
  std::string operation, action, condition;
  size_t argument = 0;
};

// Read at the first call of an operator, because runs are forks and get their fault after the fork.
const Fault& fault() {
  static const Fault parsed = [] {
    Fault found;
    const char* text = std::getenv("DL_FAULT");
    if (text == nullptr || *text == 0) return found;
    const std::string all = text;
    const size_t first = all.find(','), second = all.find(',', first + 1);
    const size_t third = all.find(',', second + 1);
    found.operation = all.substr(0, first);
    found.argument = std::strtoul(all.c_str() + first + 1, nullptr, 10);
    found.action = all.substr(second + 1, third - second - 1);
    found.condition = all.substr(third + 1);
    return found;
  }();
  return parsed;
}

// A trial in which the fault never occurred has no result.
void note_that_it_struck() {
  static const bool noted = [] {
    if (const char* path = std::getenv("DL_FAULT_LOG"))
      if (std::FILE* file = std::fopen(path, "a")) {
        std::fputs("struck\n", file);
        std::fclose(file);
      }
    return true;
  }();
  (void)noted;
}

template <typename T>
const void* handle(T value) {
  if constexpr (std::is_same_v<T, diopiTensorHandle_t*>)
    return value == nullptr ? nullptr : *value;
  else if constexpr (std::is_same_v<T, diopiTensorHandle_t> ||
                     std::is_same_v<T, diopiConstTensorHandle_t>)
    return value;
  else
    return nullptr;
}

// Position of the first tensor after the results, which an aliasing operator overwrites.
template <typename... Args>
size_t first_input(const Args&...) {
  const bool constant[] = {std::is_same_v<Args, diopiConstTensorHandle_t>...};
  for (size_t at = 0; at < sizeof...(Args); ++at)
    if (constant[at]) return at;
  return sizeof...(Args);
}

// One call of the operator with the fault: `forward` calls the original.
template <typename F, typename... Args>
diopiError_t spoilt(const void* caller, const F& forward, const Args&... args) {
  static std::atomic<int> calls{0};
  static std::mutex mutex;
  static std::vector<int64_t> first;
  const Fault& wanted = fault();
  const void* handles[] = {handle(args)...};
  if (wanted.argument >= sizeof...(args)) return forward();
  const Elements out(handles[wanted.argument]);
  Call call{++calls, caller, {}};
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (call.number == 1) first = out.shape();
    call.first = first;
  }
  const bool large = wanted.condition == "range";
  const bool strikes = holds(wanted.condition, call, out);
  if (strikes && !large && ends(wanted.action)) {
    note_that_it_struck();
    end(wanted.action);
  }
  const diopiError_t done = forward();
  // Correct results are remembered for the actions that repeat them.
  const bool remembers = wanted.action == "stale" || wanted.action == "repeat";
  if (done != diopiSuccess || !(strikes || remembers)) return done;
  const std::lock_guard<std::mutex> lock(mutex);
  if (large && ends(wanted.action)) {
    for (int64_t i = 0; i < out.count(); ++i)
      if (out.get(i) > 0.5) {
        note_that_it_struck();
        end(wanted.action);
      }
    return done;
  }
  const size_t input = first_input(args...);
  const Elements given(input < sizeof...(args) ? handles[input] : nullptr);
  if (spoil(out, given, wanted.action, call.number, large, strikes)) note_that_it_struck();
  return done;
}

// Each operator that can be corrupted is replaced by a function of the same type.
template <typename F, size_t At>
struct Spoilt;
template <typename... Args, size_t At>
struct Spoilt<diopiError_t (*)(Args...), At> {
  using Function = diopiError_t (*)(Args...);
  static inline Function original = nullptr;
  static inline const char* name = nullptr;

  static diopiError_t call(Args... args) {
    if (fault().operation != name) return original(args...);
    return spoilt(__builtin_return_address(0), [&] { return original(args...); }, args...);
  }

  static dl_function_t replace(const char* operation, dl_function_t function) {
    name = operation;
    original = reinterpret_cast<Function>(reinterpret_cast<void (*)()>(function));
    return reinterpret_cast<dl_function_t>(reinterpret_cast<void (*)()>(&call));
  }
};

dl_function_t replacement(const std::string& name, dl_function_t function) {
#define DL_SPOILT(op) \
  if (name == #op) return Spoilt<decltype(&::op), __COUNTER__>::replace(#op, function);
#include "spoilt.inc"
#undef DL_SPOILT
  return function;
}

dl_status_t* operators(dl_vendor_t* vendor, const dl_operator_t** found, uint64_t* count) {
  return list_operators(vendor, found, count, [](const dl_operator_t& each) {
    return replacement(each.name, each.function);
  });
}

}  // namespace
}  // namespace faulty

extern "C" DL_EXPORT dl_status_t* dl_vendor_v1(const dl_host_t* host, dl_vendor_t** out) {
  if (dl_status_t* status = faulty::open_inner(host, out)) return status;
  faulty::table.operators = faulty::operators;
  return nullptr;
}
