#include "bindings/contract.h"

#include <pybind11/stl.h>
#include <torch/csrc/autograd/python_variable.h>

#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/argument_guard.h"
#include "bindings/sized.h"
#include "graphs/contract_program.h"
#include "runtime/recorder.h"

namespace py = pybind11;

namespace dl::core {
namespace {

py::object tensor_of(const RecordedTensor& tensor) {
  return py::make_tuple("tensor", tensor.data, tensor.dtype, tensor.on_host,
                        py::tuple(py::cast(tensor.sizes)), py::tuple(py::cast(tensor.strides)));
}

// Converts to Python; tensors, scalars and generators become tuples that begin with their kind.
struct ToPython {
  py::object operator()(std::monostate) const { return py::none(); }
  py::object operator()(const RecordedTensor& tensor) const { return tensor_of(tensor); }
  py::object operator()(const RecordedScalar& scalar) const {
    return py::make_tuple("scalar", scalar.dtype, py::cast(scalar.value));
  }
  py::object operator()(RecordedGenerator) const { return py::make_tuple("generator"); }
  py::object operator()(
      const std::vector<std::variant<std::monostate, RecordedTensor>>& tensors) const {
    py::list list;
    for (const auto& each : tensors) list.append(std::visit(*this, each));
    return list;
  }
  template <typename T>
  py::object operator()(const T& value) const {
    return py::cast(value);
  }
};

py::list recorded_calls() {
  py::list out;
  for (const Recorded& event : take_recorded()) {
    py::list arguments;
    for (const RecordedValue& value : event.arguments)
      arguments.append(std::visit(ToPython{}, value));
    out.append(py::make_tuple(event.name, event.is_call, arguments));
  }
  return out;
}

// A program whose inputs are picked by index from a list of values.
class PickingProgram {
 public:
  PickingProgram(uintptr_t graph, const std::array<uintptr_t, 4>& functions, int device,
                 std::string generator,
                 const std::vector<std::tuple<size_t, GivenLayout, bool>>& inputs,
                 const std::vector<GivenSize>& blocks,
                 const std::vector<std::pair<size_t, GivenLayout>>& outputs, size_t symbols,
                 const std::vector<std::pair<std::string, size_t>>& passed)
      : places_(places_of(inputs)),
        symbols_(symbols),
        program_(reinterpret_cast<const dl_contract_graph_t*>(graph), executor_of(functions),
                 device, std::move(generator), inputs_of(inputs, symbols),
                 expressions_of(blocks, symbols), outputs_of(outputs, symbols),
                 passed_of(passed, symbols)) {}

  std::vector<at::Tensor> run(const py::list& values, const Sizes& sizes) {
    if (sizes.size() != symbols_)
      throw py::value_error("a compiled graph got the wrong number of sizes");
    std::vector<at::Tensor> inputs;
    inputs.reserve(places_.size());
    for (const size_t place : places_) {
      if (place >= values.size()) throw py::index_error("an input of a compiled graph is missing");
      PyObject* const value = PyList_GET_ITEM(values.ptr(), static_cast<Py_ssize_t>(place));
      if (!THPVariable_Check(value))
        throw py::type_error("an input of a compiled graph is not a tensor");
      inputs.push_back(THPVariable_Unpack(value));
    }
    const py::gil_scoped_release unlock;
    return program_.run(inputs, sizes);
  }

 private:
  using Inputs = std::vector<std::tuple<size_t, GivenLayout, bool>>;
  using Outputs = std::vector<std::pair<size_t, GivenLayout>>;

  static std::vector<size_t> places_of(const Inputs& inputs) {
    std::vector<size_t> out;
    for (const auto& each : inputs) out.push_back(std::get<0>(each));
    return out;
  }
  static ContractExecutor executor_of(const std::array<uintptr_t, 4>& functions) {
    return {reinterpret_cast<decltype(ContractExecutor::open)>(functions[0]),
            reinterpret_cast<decltype(ContractExecutor::close)>(functions[1]),
            reinterpret_cast<decltype(ContractExecutor::run)>(functions[2]),
            reinterpret_cast<decltype(ContractExecutor::generator)>(functions[3])};
  }
  static std::vector<ContractInput> inputs_of(const Inputs& inputs, size_t symbols) {
    std::vector<ContractInput> out;
    for (const auto& [place, layout, written] : inputs)
      out.push_back({layout_of(layout, symbols), written});
    return out;
  }
  static std::vector<ContractOutput> outputs_of(const Outputs& outputs, size_t symbols) {
    std::vector<ContractOutput> out;
    for (const auto& [block, layout] : outputs) out.push_back({block, layout_of(layout, symbols)});
    return out;
  }
  static std::vector<PassedSize> passed_of(
      const std::vector<std::pair<std::string, size_t>>& passed, size_t symbols) {
    std::vector<PassedSize> out;
    for (const auto& [name, symbol] : passed) {
      if (symbol >= symbols)
        throw py::index_error("a size of a compiled graph has an unknown symbol");
      out.push_back({name, symbol});
    }
    return out;
  }

  std::vector<size_t> places_;
  size_t symbols_;
  ContractProgram program_;
};

}  // namespace

void bind_contract(py::module_& m) {
  m.def("start_recording", &start_recording, py::arg("opaque"), py::arg("placeholders") = false,
        "Record the vendor calls of this thread. `opaque`: operators whose arguments are not "
        "recorded. `placeholders`: integer tensors hold placeholder values; operators that would "
        "read them on the CPU raise an error.");
  m.def("take_recorded", &recorded_calls,
        "Calls of this thread since the start or the last take: (name, whether it is a call of a "
        "contract operator, arguments in the order of its parameters).");
  m.def("stop_recording", &end_recording);
  bind_argument_guard(m);
  py::class_<PickingProgram>(m, "ContractProgram")
      .def(py::init<uintptr_t, const std::array<uintptr_t, 4>&, int, std::string,
                    const std::vector<std::tuple<size_t, GivenLayout, bool>>&,
                    const std::vector<GivenSize>&,
                    const std::vector<std::pair<size_t, GivenLayout>>&, size_t,
                    const std::vector<std::pair<std::string, size_t>>&>(),
           py::arg("graph"), py::arg("functions"), py::arg("device"), py::arg("generator"),
           py::arg("inputs"), py::arg("blocks"), py::arg("outputs"), py::arg("symbols") = 0,
           py::arg("passed") = std::vector<std::pair<std::string, size_t>>(),
           "Entry point of a graph for torch tensors. `functions`: addresses of "
           "dl_contract_session_open, _close, _run and _generator. `inputs`: (index in the list of "
           "values, layout, whether it is written). `blocks`: bytes of the graph's additional "
           "inputs, which are allocated for each run. `outputs`: (block, layout) of the tensors "
           "that a run returns. `symbols`: number of sizes that these depend on. `passed`: name "
           "and index of sizes that no input has.")
      .def("run", &PickingProgram::run, py::arg("values"), py::arg("sizes") = Sizes());
}

}  // namespace dl::core
