// Common part of vendors with seeded faults: it forwards every call to the library that
// DL_FAULT_LIBRARY names, and lets them replace slots or operators of its table.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "dl/vendor.h"

namespace faulty {
namespace {

const dl_vendor_table_t* inner = nullptr;
dl_vendor_table_t table;  // a copy of `inner`

// Opens the library and its instance, and gives the instance the copied table.
dl_status_t* open_inner(const dl_host_t* host, dl_vendor_t** out) {
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
  inner = (*out)->table;
  const size_t size = std::min<size_t>(sizeof table, inner->struct_size);
  std::memcpy(&table, inner, size);
  table.struct_size = size;
  table.name = "faulty";
  (*out)->table = &table;
  return nullptr;
}

// Lists the operators of `inner`, each with what `replacement(operator)` returns as its function.
template <class Replacement>
dl_status_t* list_operators(dl_vendor_t* vendor, const dl_operator_t** found, uint64_t* count,
                            const Replacement& replacement) {
  static std::vector<dl_operator_t> all;
  const dl_operator_t* theirs = nullptr;
  uint64_t number = 0;
  if (dl_status_t* status = inner->operators(vendor, &theirs, &number)) return status;
  all.assign(theirs, theirs + number);
  for (dl_operator_t& each : all) each.function = replacement(each);
  *found = all.data();
  *count = number;
  return nullptr;
}

}  // namespace
}  // namespace faulty
