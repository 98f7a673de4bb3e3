// A vendor that hands every call on to the library that FAULTY_LIBRARY names, and spoils results of
// one operator: FAULT is "operator,argument,kind". Everything it gets lies in host memory.
#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "dl/handles.h"
#include "dl/operator.hpp"
#include "dl/vendor.h"

namespace faulty {
namespace {

struct Fault {
  std::string operation, kind;
  size_t argument = 0;
};

const Fault& fault() {
  static const Fault parsed = [] {
    Fault found;
    const char* text = std::getenv("FAULT");
    if (text == nullptr) return found;
    std::string all = text;
    const size_t first = all.find(','), second = all.find(',', first + 1);
    found.operation = all.substr(0, first);
    found.argument = std::strtoul(all.c_str() + first + 1, nullptr, 10);
    found.kind = all.substr(second + 1);
    return found;
  }();
  return parsed;
}

float widen(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

uint16_t narrow(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// Elements of a dense tensor, whatever the order of its strides.
struct Elements {
  void* data = nullptr;
  diopiDtype_t dtype = diopi_dtype_float32;
  int64_t count = 0;

  explicit Elements(const void* handle) {
    auto tensor = static_cast<diopiTensorHandle_t>(const_cast<void*>(handle));
    if (tensor == nullptr || diopiGetTensorDtype(tensor, &dtype) != diopiSuccess) return;
    diopiGetTensorData(tensor, &data);
    diopiGetTensorNumel(tensor, &count);
  }
  bool known() const {
    return data != nullptr && (dtype == diopi_dtype_float32 || dtype == diopi_dtype_bfloat16 ||
                               dtype == diopi_dtype_bool || dtype == diopi_dtype_float64);
  }
  double get(int64_t i) const {
    if (dtype == diopi_dtype_float32) return static_cast<float*>(data)[i];
    if (dtype == diopi_dtype_float64) return static_cast<double*>(data)[i];
    if (dtype == diopi_dtype_bfloat16) return widen(static_cast<uint16_t*>(data)[i]);
    return static_cast<uint8_t*>(data)[i];
  }
  void set(int64_t i, double value) const {
    if (dtype == diopi_dtype_float32) static_cast<float*>(data)[i] = static_cast<float>(value);
    if (dtype == diopi_dtype_float64) static_cast<double*>(data)[i] = value;
    if (dtype == diopi_dtype_bfloat16)
      static_cast<uint16_t*>(data)[i] = narrow(static_cast<float>(value));
    if (dtype == diopi_dtype_bool) static_cast<uint8_t*>(data)[i] = value != 0;
  }
};

void spoil(const Elements& out) {
  static int calls = 0;
  const std::string& kind = fault().kind;
  const int call = ++calls;
  if (!out.known() || out.count == 0) return;
  const int64_t n = out.count;
  const auto each = [&](auto change) {
    for (int64_t i = 0; i < n; ++i) out.set(i, change(out.get(i), i));
  };
  double largest = 0;
  for (int64_t i = 0; i < n; ++i)
    if (std::isfinite(out.get(i))) largest = std::max(largest, std::fabs(out.get(i)));
  if (kind == "scale") each([](double x, int64_t) { return x * 1.02; });
  if (kind == "shift") each([=](double x, int64_t) { return x + 0.03 * largest; });
  if (kind == "tail")
    each([=](double x, int64_t i) { return i >= n - (n % 8 ? n % 8 : 1) ? 0.5 * x + 0.1 : x; });
  if (kind == "one") out.set(n / 2, out.get(n / 2) * 1.5 + 0.05 * largest);
  if (kind == "large")
    each([=](double x, int64_t) { return std::fabs(x) > 0.8 * largest ? x * 0.9 : x; });
  if (kind == "negative") each([](double x, int64_t) { return x < 0 ? x * 0.95 : x; });
  if (kind == "truncate") each([](double x, int64_t) { return widen(narrow(static_cast<float>(x)) & 0xfff0); });
  if (kind == "long" && n > 256)
    each([=](double x, int64_t i) { return i >= 256 ? x * 0.9 + 0.02 * largest : x; });
  if (kind == "seventh" && call % 7 == 0) each([](double x, int64_t) { return x * 1.1 + 0.01; });
  if (kind == "late" && call > 12) each([](double x, int64_t) { return x * 1.1 + 0.01; });
  if (kind == "racy" && std::rand() % 4 == 0)
    each([=](double x, int64_t i) { return i % 32 < 8 ? 0.02 * largest : x; });
  if (kind == "stale" && call % 3 == 0) out.set(0, 0.25 * largest + 1e-3);
  if (kind == "drop")  // zeros as if p were larger
    each([](double x, int64_t i) { return i % 5 == 0 ? 0 : x; });
  if (kind == "narrow") each([](double x, int64_t) { return 0.5 * x; });
  if (kind == "stuck") each([](double, int64_t i) { return (i * 37 % 101) / 101.0; });
  if (kind == "keep") each([](double, int64_t) { return 1.0; });
  if (kind == "neighbours")
    for (int64_t i = 1; i < n; i += 2) out.set(i, out.get(i - 1));
}

template <typename T>
const void* handle(T value) {
  if constexpr (std::is_same_v<T, diopiTensorHandle_t> ||
                std::is_same_v<T, diopiConstTensorHandle_t> ||
                std::is_same_v<T, diopiTensorHandle_t*>) {
    if constexpr (std::is_same_v<T, diopiTensorHandle_t*>)
      return value == nullptr ? nullptr : *value;
    else
      return value;
  }
  return nullptr;
}

template <typename... Args>
void after(Args... args) {
  const void* handles[] = {handle(args)...};
  if (fault().argument < sizeof...(args)) spoil(Elements(handles[fault().argument]));
}

std::vector<dl_operator_t>& operators() {
  static std::vector<dl_operator_t> all;
  return all;
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
    const diopiError_t done =
        reinterpret_cast<Function>(reinterpret_cast<void (*)()>(original()))(args...);
    if (done == diopiSuccess) after(args...);
    return done;
  }
};

dl_function_t replacement(const std::string& name) {
#define WRAP(op) \
  if (name == #op) \
    return reinterpret_cast<dl_function_t>( \
        reinterpret_cast<void (*)()>(&Spoilt<decltype(&::op)>::call));
#include "operators.inc"
#undef WRAP
  return nullptr;
}

dl_vendor_table_t table;
const dl_vendor_table_t* inner = nullptr;

dl_status_t* spoilt_operators(dl_vendor_t* vendor, const dl_operator_t** found, uint64_t* count) {
  const dl_operator_t* theirs = nullptr;
  uint64_t number = 0;
  if (dl_status_t* status = inner->operators(vendor, &theirs, &number)) return status;
  operators().assign(theirs, theirs + number);
  for (dl_operator_t& each : operators()) {
    if (fault().operation != each.name) continue;
    original() = each.function;
    if (dl_function_t own = replacement(each.name)) each.function = own;
  }
  *found = operators().data();
  *count = number;
  return nullptr;
}

}  // namespace
}  // namespace faulty

extern "C" DL_EXPORT dl_status_t* dl_vendor_v1(const dl_host_t* host, dl_vendor_t** out) {
  void* library = dlopen(std::getenv("FAULTY_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
  auto open = reinterpret_cast<dl_status_t* (*)(const dl_host_t*, dl_vendor_t**)>(
      dlsym(library, "dl_vendor_v1"));
  if (dl_status_t* status = open(host, out)) return status;
  faulty::inner = (*out)->table;
  std::memcpy(&faulty::table, faulty::inner,
              std::min<size_t>(sizeof faulty::table, faulty::inner->struct_size));
  faulty::table.struct_size = std::min<size_t>(sizeof faulty::table, faulty::inner->struct_size);
  faulty::table.name = "faulty";
  faulty::table.operators = faulty::spoilt_operators;
  (*out)->table = &faulty::table;
  return nullptr;
}
