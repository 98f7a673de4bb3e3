#include "bindings/argument_guard.h"

#include <pybind11/stl.h>
#include <torch/csrc/autograd/python_variable.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "bindings/sized.h"

namespace py = pybind11;

namespace dl::core {
namespace {

constexpr size_t kMostSizes = 64;

bool to_integer(PyObject* given, int64_t& out) {
  if (!PyLong_Check(given)) return false;
  int overflow = 0;
  out = PyLong_AsLongLongAndOverflow(given, &overflow);
  return overflow == 0;
}

// A symbolic size: index of the argument that has it, its dimension (-1 for an integer argument),
// minimum and maximum.
using GivenSymbol = std::tuple<size_t, int64_t, int64_t, int64_t>;
// A relation ("<=", a, b); the operator may also be "==" or "<".
using GivenRelation = std::tuple<std::string, GivenSize, GivenSize>;
using GivenArgument = std::variant<std::monostate, int64_t, std::vector<int64_t>, GivenLayout>;

// Conditions on the arguments of a call under which a compiled graph is valid.
class ArgumentGuard {
 public:
  ArgumentGuard(int device, const std::vector<GivenArgument>& arguments,
                const std::vector<GivenSymbol>& symbols,
                const std::vector<GivenRelation>& relations)
      : device_(device), symbols_(symbols) {
    const size_t count = symbols.size();
    for (const GivenArgument& one : arguments) {
      if (const auto* const layout = std::get_if<GivenLayout>(&one))
        arguments_.emplace_back(layout_of(*layout, count));
      else if (const auto* const number = std::get_if<int64_t>(&one))
        arguments_.emplace_back(SizeExpression(*number));
      else if (const auto* const steps = std::get_if<std::vector<int64_t>>(&one))
        arguments_.emplace_back(SizeExpression(*steps, count));
      else
        arguments_.emplace_back(std::monostate());
    }
    for (const auto& [place, dimension, least, most] : symbols)
      if (place >= arguments.size()) throw py::index_error("a guard refers to a missing argument");
    for (const auto& [sign, left, right] : relations) {
      if (sign != "==" && sign != "<=" && sign != "<")
        throw py::value_error("a guard has an unknown relation");
      relations_.push_back({sign, expression_of(left, count), expression_of(right, count)});
    }
  }

  bool holds(const py::list& given) { return find(given) != nullptr; }

  // Returns the size of each symbol, or None if the graph is not valid for these arguments.
  py::object sizes(const py::list& given) {
    const Bound* const bound = find(given);
    return bound == nullptr ? py::object(py::none()) : py::object(bound->sizes);
  }

 private:
  using Wanted = std::variant<std::monostate, int64_t, TensorLayout>;

  struct Relation {
    std::string sign;
    SizeExpression left;
    SizeExpression right;

    bool holds(const Sizes& sizes) const {
      int64_t a = 0;
      int64_t b = 0;
      if (!left.value(sizes, a) || !right.value(sizes, b)) return false;
      return sign == "==" ? a == b : sign == "<" ? a < b : a <= b;
    }
  };

  // The conditions, evaluated for one tuple of sizes.
  struct Bound {
    py::tuple sizes;
    std::vector<Wanted> wanted;
  };

  const Bound* find(const py::list& given) {
    if (given.size() != arguments_.size()) return nullptr;
    Sizes sizes(symbols_.size());
    for (size_t i = 0; i < symbols_.size(); ++i)
      if (!size_of(symbols_[i], given, sizes[i])) return nullptr;
    auto found = bound_.find(sizes);
    if (found == bound_.end()) {
      std::optional<Bound> made = bind(sizes);
      if (!made) return nullptr;
      if (bound_.size() >= kMostSizes) bound_.clear();
      found = bound_.emplace(std::move(sizes), *std::move(made)).first;
    }
    for (size_t i = 0; i < arguments_.size(); ++i)
      if (!is_as_wanted(found->second.wanted[i], item(given, i))) return nullptr;
    return &found->second;
  }

  static PyObject* item(const py::list& given, size_t place) {
    return PyList_GET_ITEM(given.ptr(), static_cast<Py_ssize_t>(place));
  }

  static bool size_of(const GivenSymbol& symbol, const py::list& given, int64_t& out) {
    const auto [place, dimension, least, most] = symbol;
    PyObject* const argument = item(given, place);
    if (dimension < 0) {
      if (!to_integer(argument, out)) return false;
    } else {
      if (!THPVariable_Check(argument)) return false;
      const at::Tensor& tensor = THPVariable_Unpack(argument);
      if (dimension >= tensor.dim()) return false;
      out = tensor.unsafeGetTensorImpl()->sizes()[static_cast<size_t>(dimension)];
    }
    return least <= out && out <= most;
  }

  std::optional<Bound> bind(const Sizes& sizes) const {
    for (const Relation& relation : relations_)
      if (!relation.holds(sizes)) return std::nullopt;
    Bound out{py::tuple(py::cast(sizes)), {}};
    for (const auto& argument : arguments_) {
      if (const auto* const layout = std::get_if<SizedLayout>(&argument)) {
        std::optional<TensorLayout> bound = layout->bound(sizes);
        if (!bound) return std::nullopt;
        out.wanted.emplace_back(*std::move(bound));
      } else if (const auto* const number = std::get_if<SizeExpression>(&argument)) {
        int64_t value = 0;
        if (!number->value(sizes, value)) return std::nullopt;
        out.wanted.emplace_back(value);
      } else {
        out.wanted.emplace_back(std::monostate());
      }
    }
    return out;
  }

  bool is_as_wanted(const Wanted& wanted, PyObject* given) const {
    if (const auto* const layout = std::get_if<TensorLayout>(&wanted)) {
      if (!THPVariable_Check(given)) return false;
      const at::Tensor& tensor = THPVariable_Unpack(given);
      return tensor.is_privateuseone() && tensor.get_device() == device_ && layout->holds(tensor);
    }
    if (const auto* const number = std::get_if<int64_t>(&wanted)) {
      int64_t value = 0;
      return to_integer(given, value) && value == *number;
    }
    return true;
  }

  int device_;
  std::vector<GivenSymbol> symbols_;
  std::vector<Relation> relations_;
  std::vector<std::variant<std::monostate, SizeExpression, SizedLayout>> arguments_;
  std::map<Sizes, Bound> bound_;
};

}  // namespace

void bind_argument_guard(py::module_& m) {
  py::class_<ArgumentGuard>(m, "ArgumentGuard")
      .def(py::init<int, const std::vector<GivenArgument>&, const std::vector<GivenSymbol>&,
                    const std::vector<GivenRelation>&>(),
           py::arg("device"), py::arg("arguments"), py::arg("symbols") = std::vector<GivenSymbol>(),
           py::arg("relations") = std::vector<GivenRelation>(),
           "`arguments`: a layout for a tensor of the device, a number or an expression for an "
           "integer, None for an argument that is not checked. `symbols`: (argument, dimension or "
           "-1, minimum, maximum). `relations`: (operator, a, b).")
      .def("holds", &ArgumentGuard::holds, py::arg("arguments"))
      .def("sizes", &ArgumentGuard::sizes, py::arg("arguments"));
}

}  // namespace dl::core
