#include "bindings/modes.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <pybind11/stl.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/jit/python/pybind_utils.h>
#include <torch/csrc/utils/pybind.h>

#include <optional>

#include "aten/modes/detour.h"
#include "calls/call.h"
#include "runtime/device.h"

namespace py = pybind11;

namespace dl::core {
namespace {

// Never freed: operators are called until the process exits.
py::object& hook() {
  static auto* function = new py::object;
  return *function;
}

// Operators called by a hook are not recorded, not autocast, and not seen by hooks and modes.
class HookScope {
  const Unwatched unwatched_;
  const at::AutoDispatchBelowADInplaceOrView below_autograd_;
  const at::NoGradGuard no_gradients_;
  const c10::impl::ExcludeDispatchKeyGuard no_autocast_{c10::autocast_dispatch_keyset};
  const c10::impl::ExcludeDispatchKeyGuard no_python_{c10::python_ks};
};

// Raises a Python exception, as torch's own Python kernels do, in any thread.
[[noreturn]] void raise(py::error_already_set& error) {
  error.restore();
  python_error raised;
  raised.persist();
  throw raised;
}

// Enums are stored as integers on the operator stack.
py::object to_python(const c10::Argument& argument, const c10::IValue& value) {
  c10::TypePtr type = argument.real_type();
  if (value.isNone()) return py::none();
  if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  switch (type->kind()) {
    case c10::TypeKind::ScalarTypeType:
      return py::cast(value.toScalarType());
    case c10::TypeKind::LayoutType:
      return py::cast(value.toLayout());
    case c10::TypeKind::MemoryFormatType:
      return py::cast(value.toMemoryFormat());
    default:
      return torch::jit::toPyObject(value);
  }
}

py::object ask(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const auto& arguments = op.schema().arguments();
  auto value = stack.end() - static_cast<ptrdiff_t>(arguments.size());
  py::list positional;
  py::dict named;
  for (const c10::Argument& argument : arguments) {
    py::object object = to_python(argument, *value++);
    if (argument.kwarg_only()) {
      named[argument.name().c_str()] = std::move(object);
    } else {
      positional.append(std::move(object));
    }
  }
  const HookScope scope;
  return hook()(c10::toString(op.operator_name()).substr(6), py::tuple(positional), named);
}

void tell(const py::object& then, const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const size_t count = op.schema().returns().size();
  const HookScope scope;
  py::list results;
  for (auto it = stack.end() - static_cast<ptrdiff_t>(count); it != stack.end(); ++it)
    results.append(torch::jit::toPyObject(*it));
  then(results);
}

void call_hook(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  if (!Py_IsInitialized() || !hook()) return pass(op, keys, stack);
  const py::gil_scoped_acquire lock;
  try {
    const py::object then = ask(op, *stack);
    const auto run = [&] {
      const py::gil_scoped_release unlock;
      pass(op, keys, stack);
    };
    if (then.is_none()) return run();
    try {
      run();
    } catch (...) {
      const HookScope scope;
      then(py::none());
      throw;
    }
    tell(then, op, *stack);
  } catch (py::error_already_set& error) {
    raise(error);
  }
}

// The contract operators behind each overload that the device's vendor implements.
py::dict contract_operators(int index) {
  const Device& owner = device(index);
  py::dict result;
  for (const Site* site : sites()) {
    py::list names;
    for (const Op op : site->operators) {
      if (owner.function(op) != nullptr) names.append(kOpNames[static_cast<size_t>(op)]);
    }
    if (names.empty()) continue;
    for (const char* form : site->forms) result[form] = names;
    result[site->overload] = names;
  }
  return result;
}

py::dict forms() {
  py::dict result;
  for (const Site* site : sites()) {
    py::list names;
    for (const char* form : site->forms) names.append(form);
    result[site->overload] = names;
  }
  return result;
}

}  // namespace

void bind_modes(py::module_& m) {
  m.def(
      "set_hook",
      [](py::object function) {
        hook() = std::move(function);
        set_watcher(&call_hook);
      },
      py::arg("function"),
      "Set the function that is called as function(overload, args, kwargs), with all arguments, "
      "before a watched operator runs. If it returns a function, that is called afterwards with "
      "the "
      "list of results, or with None if the operator failed.");
  m.def("watch", &watch, py::arg("overloads"), "Set the overloads for which the hook is called.");
  m.def("decompose", &decompose, py::arg("overloads"),
        "Set the overloads that run torch's decomposition.");
  m.def("watchable_operators", &watchable_operators,
        "Overloads that reach a kernel of the device or the fallback unchanged.");
  m.def("decomposable_operators", &decomposable_operators,
        "Overloads with a kernel in dl-core and a decomposition in torch.");
  m.def("contract_operators", &contract_operators, py::arg("index"),
        "Contract operators behind each overload that the device's vendor implements.");
  m.def("operator_forms", &forms, "Overloads that share a wrapper, by its name.");
}

}  // namespace dl::core
