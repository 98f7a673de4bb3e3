// Python bindings of the compiled part of dl-core: dl_core._C.
#include <pybind11/stl.h>
#include <torch/csrc/Generator.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/version.h>

#include <algorithm>
#include <mutex>

#include "aten/fallback/fallback.h"
#include "aten/fallback/fallback_reason.h"
#include "aten/kernel/composed.h"
#include "bindings/contract.h"
#include "bindings/distributed.h"
#include "bindings/host_call.h"
#include "bindings/kernels.h"
#include "bindings/memory.h"
#include "bindings/modes.h"
#include "bindings/sharing.h"
#include "calls/added.h"
#include "calls/call.h"
#include "calls/call_counts.h"
#include "contract/dtype.h"
#include "memory/silent_writes.h"
#include "runtime/activate.h"
#include "runtime/device.h"
#include "runtime/first_use.h"
#include "runtime/generator.h"
#include "runtime/host.h"
#include "runtime/legacy.h"
#include "runtime/reserved_stream.h"

namespace py = pybind11;

namespace dl::core {
namespace {

py::dict load(const std::string& name, const std::string& library, bool legacy, uintptr_t adaptor) {
  const size_t index = load_vendor(name, library, legacy, reinterpret_cast<dl_adaptor_t*>(adaptor));
  const Vendor& loaded = vendor(index);
  py::dict result;
  result["index"] = index;
  result["name"] = loaded.name();
  result["version"] = loaded.version();
  result["capabilities"] = loaded.capabilities();
  result["device_count"] = loaded.device_count();
  result["operators"] = loaded.bound_operators();
  result["mismatched"] = loaded.mismatched_operators();
  return result;
}

py::dict info(int index) {
  const Device& owner = device(index);
  const auto properties = owner.properties();
  py::dict result;
  result["vendor"] = owner.vendor->name();
  result["vendor_version"] = owner.vendor->version();
  result["library"] = owner.vendor->library();
  result["local_index"] = owner.local;
  result["name"] = std::string(properties.name);
  result["architecture"] = std::string(properties.architecture);
  result["total_memory"] = properties.total_memory;
  result["major"] = properties.major;
  result["minor"] = properties.minor;
  result["multiprocessor_count"] = properties.multiprocessor_count;
  result["warp_size"] = properties.warp_size;
  result["allocation_padding"] = properties.allocation_padding;
  result["dtype_mask"] = scalar_type_mask(properties.dtype_mask);
  result["host_accessible"] = owner.host_accessible;
  result["synchronous"] = owner.synchronous;
  return result;
}

py::dict counter(uint64_t calls, uint64_t nanoseconds) {
  py::dict entry;
  entry["count"] = calls;
  entry["nanoseconds"] = nanoseconds;
  return entry;
}

py::dict fallback_stats() {
  py::dict result;
  for (const auto& entry : fallback_counts())
    result[entry.overload.c_str()] = counter(entry.calls, entry.nanoseconds);
  return result;
}

py::list fallback_reason_list() {
  py::list result;
  for (const auto& [overload, reason] : fallback_reasons()) {
    py::dict entry = counter(reason->calls_since_reset(), reason->nanoseconds_since_reset());
    entry["overload"] = overload;
    entry["cause"] = name_of(reason->cause);
    entry["vendor"] = reason->vendor == nullptr ? "" : reason->vendor->name();
    entry["operator"] = reason->contract_name == nullptr ? "" : reason->contract_name;
    entry["words"] = reason->words;
    entry["text"] = reason->text;
    entry["total_count"] = reason->calls.load();
    entry["total_nanoseconds"] = reason->nanoseconds.load();
    result.append(entry);
  }
  return result;
}

// Contexts that count and time operators may be nested and overlap.
void profile_operators(bool on) {
  static std::mutex mutex;
  static int active = 0;
  const std::lock_guard<std::mutex> guard(mutex);
  active = std::max(active + (on ? 1 : -1), 0);
  if (active > 0) {
    noted.fetch_or(kNotedTimes);
  } else {
    noted.fetch_and(static_cast<uint8_t>(~kNotedTimes));
  }
}

py::dict operators_by_overload() {
  py::dict result;
  for (const Site* site : sites()) {
    for (const char* form : site->forms) {
      py::list names;
      for (const Op op : site->operators) names.append(kOpNames[static_cast<size_t>(op)]);
      result[form] = names;
    }
  }
  return result;
}

py::dict native_stats() {
  py::dict result;
  for (const Site* site : sites()) {
    if (site->calls.load() > 0)
      result[site->overload] = counter(site->calls.load(), site->nanoseconds.load());
  }
  return result;
}

void reset_native_stats() {
  for (Site* site : sites()) {
    site->calls = 0;
    site->nanoseconds = 0;
  }
}

void set_mode(const std::string& mode) {
  if (mode == "allow") return set_fallback_mode(FallbackMode::allow);
  if (mode == "warn") return set_fallback_mode(FallbackMode::warn);
  if (mode == "error") return set_fallback_mode(FallbackMode::error);
  throw py::value_error("fallback mode '" + mode + "' is not one of allow, warn, error");
}

std::string get_mode() {
  switch (fallback_mode()) {
    case FallbackMode::warn:
      return "warn";
    case FallbackMode::error:
      return "error";
    default:
      return "allow";
  }
}

template <typename F>
void visit_native(int index, F&& f) {
  const Device& owner = device(index);
  for (const Site* site : sites()) {
    const auto bound = [&](Op op) { return owner.function(op) != nullptr; };
    if (std::any_of(site->operators.begin(), site->operators.end(), bound)) f(*site);
  }
}

py::list native_operators(int index) {
  py::list result;
  visit_native(index, [&](const Site& site) { result.append(site.overload); });
  return result;
}

py::list native_overloads(int index) {
  py::list result;
  visit_native(index, [&](const Site& site) {
    for (const char* form : site.forms) result.append(form);
  });
  return result;
}

// Disables the vendor's implementation of these overloads. Returns the number of known names.
size_t disable_native(const std::vector<std::string>& overloads) {
  size_t known = 0;
  for (Site* site : sites()) {
    const bool listed =
        std::find(overloads.begin(), overloads.end(), site->overload) != overloads.end();
    site->disabled = listed;
    known += listed;
  }
  return known;
}

}  // namespace

PYBIND11_MODULE(_C, m) {
  m.attr("TORCH_VERSION") = TORCH_VERSION;
  bind_memory(m);
  bind_sharing(m);
  m.def("activate", &activate,
        "Register the device type with torch. Called once, after a vendor was found.");
  m.def("set_legacy_runtime", &set_legacy_runtime, py::arg("path"),
        "Set the path of libdiopirt.so.1.");
  m.def(
      "load_vendor", &load, py::arg("name"), py::arg("library"), py::arg("legacy") = false,
      py::arg("adaptor") = 0,
      "Load a vendor library and return its properties. `adaptor`: address of a dl_adaptor_t that "
      "lives until the process exits. Raises RuntimeError with the cause.");
  m.def(
      "set_served_by",
      [](uintptr_t function) { set_served_by(reinterpret_cast<ServedBy>(function)); },
      py::arg("function"), "Set the address of dl_added_served of libdl_host.so.");
  m.def(
      "vendor_handle",
      [](size_t index) { return reinterpret_cast<uintptr_t>(vendor(index).instance()); },
      py::arg("index"),
      "Address of a loaded vendor's instance, for tools that use its extensions.");
  m.def("set_visible_devices", &set_visible_devices, py::arg("devices"),
        "Fix dl:0, dl:1, ... as (vendor index, vendor's own device number) pairs.");

  m.def("device_count", &device_count);
  m.def("current_device", &current_device);
  m.def("set_device", &set_current_device, py::arg("index"));
  m.def(
      "exchange_device",
      [](int index) {
        const int previous = current_device();
        set_current_device(index);
        return previous;
      },
      py::arg("index"), "Make a device current; returns the previous one.");
  m.def(
      "maybe_exchange_device",
      [](int index) {
        const int previous = current_device();
        if (index >= 0) set_current_device(index);
        return previous;
      },
      py::arg("index"), "As exchange_device; a negative index changes nothing.");
  m.def(
      "reserved_stream", [](int index) { return reserved_stream(index, 0).id(); }, py::arg("index"),
      "Id of a new stream of a device that torch.Stream() never returns.");
  m.def(
      "stream_priority",
      [](int index, int64_t id) {
        return stream_priority(
            c10::Stream(c10::Stream::UNSAFE,
                        c10::Device(kDeviceType, static_cast<c10::DeviceIndex>(index)), id));
      },
      py::arg("index"), py::arg("id"), "Priority of an existing stream.");
  m.attr("LARGEST_PRIORITY") = kLargestPriority;
  m.def("device_info", &info, py::arg("index"));
  m.def(
      "default_generator", [](int index) { return at::Generator(default_generator(index)); },
      py::arg("index"));
  m.def("is_in_bad_fork", &in_bad_fork);
  m.def("note_first_use", &note_first_use);

  m.def("fallback_stats", &fallback_stats,
        "Count of each overload, and nanoseconds while operators are profiled.");
  m.def("fallback_reasons", &fallback_reason_list,
        "Reasons of all overloads since the start, with counts since the start and the reset.");
  m.def("operators_by_overload", &operators_by_overload,
        "Contract operators that the kernel of each overload passes to the vendor.");
  m.def("reset_fallback_stats", [] {
    reset_fallback_counts();
    reset_call_totals();
  });
  m.def(
      "call_totals",
      [](bool since_start) {
        const CallTotals totals = since_start ? call_totals_since_start() : call_totals();
        return std::make_pair(totals.native, totals.composed);
      },
      py::arg("since_start") = false,
      "Number of calls of vendor operators and of composed ones, since reset_fallback_stats() or "
      "the start.");
  m.def(
      "silent_writes", [] { return silent_writes.load(std::memory_order_relaxed); },
      "Number of writes by operators to tensors whose version was not bumped.");
  m.def("set_fallback_mode", &set_mode, py::arg("mode"));
  m.def("fallback_mode", &get_mode);
  m.def("native_stats", &native_stats, "Counts of each overload while operators are profiled.");
  m.def("reset_native_stats", &reset_native_stats);
  m.def("profile_operators", &profile_operators, py::arg("on"),
        "Begin or end a block whose operators are counted and timed.");
  m.def("native_overloads", &native_overloads, py::arg("index"),
        "native_operators() with their in-place and out= forms.");
  m.def(
      "composed_operators", [] { return composed_operators(); },
      "Overloads that are composed of other operators.");
  m.def("native_operators", &native_operators, py::arg("index"),
        "Overloads for which the device's vendor implements a contract operator.");
  m.def("disable_native", &disable_native, py::arg("overloads"),
        "Set the overloads that always run through the fallback; return how many are known.");
  m.def(
      "bind_distributed", [m]() mutable { bind_distributed(m); },
      "Add Dicl to the module; torch.distributed must have been imported.");
  bind_modes(m);
  bind_contract(m);
  bind_host_call(m);
  bind_kernels(m);
}

}  // namespace dl::core
