// With with_stack=True, torch's tracer records Python functions by the addresses of their names and
// reads the names when the events are requested. If a code object has been freed, the memory holds
// other bytes, which are rarely valid UTF-8: profile.events() raises UnicodeDecodeError
// (https://github.com/pytorch/pytorch/issues/113564). Devices trigger this in the first profile of
// a process, because their first operator imports modules.
//
// Audit events (PEP 578) precede the execution of such code and carry the code or its names.
#include "profiler/code_names.h"

#include <c10/macros/Macros.h>
#include <pybind11/pybind11.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_set>

namespace dl::core::profiler {
namespace {

namespace py = pybind11;

std::atomic<int> keeping{0};

void keep(const py::handle& name) {
  static std::mutex mutex;
  static auto* const kept = new std::unordered_set<PyObject*>;
  if (!PyUnicode_Check(name.ptr())) return;
  const std::lock_guard<std::mutex> guard(mutex);
  if (kept->insert(name.ptr()).second) name.inc_ref();
}

// Keeps the names of a code object and of all code objects nested in it.
void keep_names(const py::handle& code) {
  keep(code.attr("co_name"));
  keep(code.attr("co_filename"));
  for (const py::handle& constant : py::tuple(code.attr("co_consts")))
    if (PyCode_Check(constant.ptr())) keep_names(constant);
}

int notice(const char* event, PyObject* arguments, void*) {
  if (C10_LIKELY(keeping.load(std::memory_order_relaxed) == 0) || arguments == nullptr) return 0;
  const bool runs = std::strcmp(event, "exec") == 0;
  if (!runs && std::strcmp(event, "code.__new__") != 0) return 0;
  try {
    const auto given = py::reinterpret_borrow<py::tuple>(arguments);
    if (runs) {
      if (PyCode_Check(given[0].ptr())) keep_names(given[0]);
    } else {
      keep(given[1]);
      keep(given[2]);
    }
  } catch (py::error_already_set& error) {
    // The program continues; its profile may lack this name.
    error.discard_as_unraisable("dl_core: names of profiled code");
  } catch (const std::exception&) {
    // As above, for a failed allocation.
  }
  return 0;
}

}  // namespace

CodeNames::CodeNames() {
  static std::atomic<bool> added{false};
  if (!added.exchange(true)) {
    const py::gil_scoped_acquire held;
    // Another hook may reject this one: profiles are then as in plain torch.
    if (PySys_AddAuditHook(&notice, nullptr) < 0) PyErr_Clear();
  }
  ++keeping;
}

CodeNames::~CodeNames() { --keeping; }

}  // namespace dl::core::profiler
