// A vendor that hands every call on to the library that DL_FAULT_LIBRARY names, and spoils one
// argument of one operator: DL_FAULT is "operator,place of the argument,kind". It is for libraries
// whose memory the host may touch and whose work is done when a call returns.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "dl/handles.h"
#include "dl/operator.hpp"
#include "dl/vendor.h"
#include "spoil.hpp"

namespace faulty {
namespace {

struct Fault {
  std::string operation, kind;
  size_t argument = 0;
};

const Fault& fault() {
  static const Fault parsed = [] {
    Fault found;
    const char* text = std::getenv("DL_FAULT");
    if (text == nullptr) return found;
    const std::string all = text;
    const size_t first = all.find(','), second = all.find(',', first + 1);
    found.operation = all.substr(0, first);
    found.argument = std::strtoul(all.c_str() + first + 1, nullptr, 10);
    found.kind = all.substr(second + 1);
    return found;
  }();
  return parsed;
}

// A trial whose program never met the fault says nothing.
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

dl_function_t& original() {
  static dl_function_t function = nullptr;
  return function;
}

// The one operator that is spoilt is replaced by a function of its own type.
template <typename F>
struct Spoilt;
template <typename... Args>
struct Spoilt<diopiError_t (*)(Args...)> {
  static diopiError_t call(Args... args) {
    using Function = diopiError_t (*)(Args...);
    const auto function = reinterpret_cast<Function>(reinterpret_cast<void (*)()>(original()));
    const diopiError_t done = function(args...);
    const void* handles[] = {handle(args)...};
    if (done == diopiSuccess && fault().argument < sizeof...(args) &&
        spoil(Elements(handles[fault().argument]), fault().kind))
      note_that_it_struck();
    return done;
  }
};

dl_function_t replacement(const std::string& name) {
#define DL_SPOILT(op)                       \
  if (name == #op)                          \
    return reinterpret_cast<dl_function_t>( \
        reinterpret_cast<void (*)()>(&Spoilt<decltype(&::op)>::call));
#include "spoilt.inc"
#undef DL_SPOILT
  return nullptr;
}

const dl_vendor_table_t* inner = nullptr;
dl_vendor_table_t table;

dl_status_t* operators(dl_vendor_t* vendor, const dl_operator_t** found, uint64_t* count) {
  static std::vector<dl_operator_t> all;
  const dl_operator_t* theirs = nullptr;
  uint64_t number = 0;
  if (dl_status_t* status = inner->operators(vendor, &theirs, &number)) return status;
  all.assign(theirs, theirs + number);
  for (dl_operator_t& each : all) {
    if (fault().operation != each.name) continue;
    if (const dl_function_t own = replacement(each.name)) {
      original() = each.function;
      each.function = own;
    }
  }
  *found = all.data();
  *count = number;
  return nullptr;
}

}  // namespace
}  // namespace faulty

extern "C" DL_EXPORT dl_status_t* dl_vendor_v1(const dl_host_t* host, dl_vendor_t** out) {
  static dl_status_t missing = {sizeof(dl_status_t),
                                DL_INVALID_ARGUMENT,
                                0,
                                "DL_FAULT_LIBRARY names no vendor library",
                                "dlopen",
                                [](dl_status_t*) {},
                                nullptr};
  const char* path = std::getenv("DL_FAULT_LIBRARY");
  void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return &missing;
  const auto open = reinterpret_cast<dl_status_t* (*)(const dl_host_t*, dl_vendor_t**)>(
      dlsym(library, "dl_vendor_v1"));
  if (open == nullptr) return &missing;
  if (dl_status_t* status = open(host, out)) return status;
  faulty::inner = (*out)->table;
  const size_t size = std::min<size_t>(sizeof faulty::table, faulty::inner->struct_size);
  std::memcpy(&faulty::table, faulty::inner, size);
  faulty::table.struct_size = size;
  faulty::table.name = "faulty";
  faulty::table.operators = faulty::operators;
  (*out)->table = &faulty::table;
  return nullptr;
}
