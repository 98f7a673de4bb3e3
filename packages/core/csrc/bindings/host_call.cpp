#include "bindings/host_call.h"

#include <ATen/ops/clone.h>
#include <pybind11/stl.h>
#include <torch/csrc/autograd/python_variable.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "aten/fallback/host_arguments.h"
#include "bindings/host_alias.h"
#include "memory/graph_pools.h"
#include "memory/new_tensor.h"
#include "runtime/device.h"

namespace py = pybind11;

namespace dl::core {
namespace {

using Range = std::pair<const char*, const char*>;

// Range of memory that a tensor can access.
Range range_of(const at::Tensor& tensor) {
  if (tensor.numel() == 0) return {};
  int64_t elements = 1;
  for (int64_t i = 0; i < tensor.dim(); ++i) elements += (tensor.size(i) - 1) * tensor.stride(i);
  const char* first = static_cast<const char*>(tensor.const_data_ptr());
  return {first, first + elements * static_cast<int64_t>(tensor.itemsize())};
}

c10::StorageImpl* storage_of(const at::Tensor& tensor) {
  return tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
}

// A CPU function called with the tensors of a device whose memory the CPU can access, without
// copies. It takes a list, which it may clear, and returns one.
class HostCall {
 public:
  HostCall(int device, py::function function, std::vector<bool> written,
           std::vector<bool> on_device, std::vector<at::Tensor> kept)
      : device_(device),
        function_(std::move(function)),
        written_(std::move(written)),
        writes_(std::find(written_.begin(), written_.end(), true) != written_.end()),
        on_device_(std::move(on_device)),
        kept_(std::move(kept)),
        aliases_(written_.size()) {
    const Device& owner = ::dl::core::device(device);
    if (!owner.host_accessible || !owner.synchronous) {
      throw py::value_error(c10::str("[dl] the CPU cannot compute in the memory of dl:", device,
                                     " (vendor ", owner.vendor->name(), ")"));
    }
  }

  // Returns None without running the function if an argument that it writes shares memory with
  // another argument.
  py::object run(const py::list& arguments) {
    if (arguments.size() != written_.size())
      throw py::value_error("a host function got the wrong number of arguments");
    if (is_capturing(device_))
      check_not_capturing(device_, "a graph that was compiled for the CPU");
    if (writes_ && is_entangled(arguments)) return py::none();
    HostArguments host(device_, Twins::alias, true);
    host.begin();
    for (const at::Tensor& each : kept_) host.note_cpu_input(each);
    Arguments pairs;
    py::list given;
    for (size_t i = 0; i < written_.size(); ++i) {
      const py::object value = arguments[i];
      given.append(THPVariable_Check(value.ptr()) ? on_host(host, pairs, value, i) : value);
    }
    const py::list made = function_(std::move(given));
    return on_device(host, pairs, made);
  }

 private:
  // A device tensor and its CPU alias, which is reserved until the call ends.
  struct Argument {
    py::object original;
    py::object host;
    c10::StorageImpl* host_storage;
    at::Tensor tensor;
  };
  struct Arguments : std::vector<Argument> {
    ~Arguments() {
      for (const Argument& each : *this) HostAlias::detach(THPVariable_Unpack(each.host.ptr()));
    }
  };

  py::object on_host(HostArguments& host, std::vector<Argument>& pairs, const py::object& value,
                     size_t place) {
    at::Tensor tensor = THPVariable_Unpack(value.ptr());
    if (tensor.device().type() != kDeviceType) {
      host.note_cpu_input(tensor);
      return value;
    }
    TORCH_CHECK(tensor.get_device() == device_, "[dl] argument ", place, " is on ", tensor.device(),
                ", and the graph was compiled for dl:", device_);
    TORCH_CHECK(!tensor._is_zerotensor(), "[dl] argument ", place, " has no memory");
    // Compiled code reads memory directly and ignores lazy conjugation and negation.
    if (C10_UNLIKELY(!written_[place] && (tensor.is_conj() || tensor.is_neg())))
      tensor = tensor.resolve_conj().resolve_neg();
    py::object seen = aliases_[place].over(tensor, written_[place]);
    auto* storage = storage_of(THPVariable_Unpack(seen.ptr()));
    pairs.push_back({value, seen, storage, std::move(tensor)});
    return seen;
  }

  py::list on_device(HostArguments& host, const std::vector<Argument>& pairs,
                     const py::list& made) const {
    if (made.size() != on_device_.size())
      throw py::value_error("a host function returned the wrong number of results");
    std::vector<py::object> results;
    for (const py::handle each : made) results.push_back(py::reinterpret_borrow<py::object>(each));
    // First, results that stay on the CPU: a result that shares its memory is copied.
    for (size_t i = 0; i < results.size(); ++i) {
      if (on_device_[i] || !THPVariable_Check(results[i].ptr())) continue;
      at::Tensor tensor = THPVariable_Unpack(results[i].ptr());
      if (argument_of(pairs, tensor) != nullptr || is_kept(tensor)) {
        tensor = tensor.clone();
        results[i] = py::cast(tensor);
      }
      host.note_cpu_input(tensor);
    }
    py::list out;
    for (size_t i = 0; i < results.size(); ++i) {
      const bool moves = on_device_[i] && THPVariable_Check(results[i].ptr());
      out.append(moves ? moved(host, pairs, results[i]) : results[i]);
    }
    return out;
  }

  static py::object moved(HostArguments& host, const std::vector<Argument>& pairs,
                          const py::object& result) {
    for (const Argument& each : pairs) {
      if (each.host.is(result)) return each.original;
    }
    const at::Tensor& tensor = THPVariable_Unpack(result.ptr());
    if (const Argument* viewed = argument_of(pairs, tensor))
      return py::cast(rewrap(viewed->tensor.storage(), tensor, kDlKeys));
    return py::cast(host.to_device(tensor));
  }

  // The argument whose memory contains a tensor, or NULL.
  static const Argument* argument_of(const std::vector<Argument>& pairs, const at::Tensor& tensor) {
    if (!tensor.has_storage()) return nullptr;
    const auto* storage = storage_of(tensor);
    for (const Argument& each : pairs) {
      if (each.host_storage == storage) return &each;
    }
    return nullptr;
  }

  bool is_entangled(const py::list& arguments) const {
    std::vector<Range> ranges;
    for (const py::handle each : arguments) {
      const bool lies_there = THPVariable_Check(each.ptr()) &&
                              THPVariable_Unpack(each.ptr()).device().type() == kDeviceType;
      ranges.push_back(lies_there ? range_of(THPVariable_Unpack(each.ptr())) : Range{});
    }
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (!written_[i]) continue;
      for (size_t j = 0; j < ranges.size(); ++j) {
        if (i != j && ranges[i].first < ranges[j].second && ranges[j].first < ranges[i].second)
          return true;
      }
    }
    return false;
  }

  bool is_kept(const at::Tensor& tensor) const {
    return std::any_of(kept_.begin(), kept_.end(), [&](const at::Tensor& each) {
      return tensor.has_storage() && each.storage().is_alias_of(tensor.storage());
    });
  }

  int device_;
  py::function function_;
  std::vector<bool> written_;
  bool writes_;
  std::vector<bool> on_device_;
  std::vector<at::Tensor> kept_;
  std::vector<HostAlias> aliases_;
};

}  // namespace

void bind_host_call(py::module_& m) {
  py::class_<HostCall>(m, "HostCall")
      .def(py::init<int, py::function, std::vector<bool>, std::vector<bool>,
                    std::vector<at::Tensor>>(),
           py::arg("device"), py::arg("function"), py::arg("written"), py::arg("on_device"),
           py::arg("kept") = std::vector<at::Tensor>(),
           "A function of a list of CPU tensors that alias device tensors. `written`: for each "
           "argument, whether the function writes to it. `on_device`: for each result, whether the "
           "caller gets it as a device tensor, which takes over its memory. `kept`: CPU tensors "
           "that the function caches between calls; a result in their memory is copied.")
      .def("run", &HostCall::run, py::arg("arguments"),
           "Return the results, or None without running the function if an argument that it writes "
           "shares memory with another argument.");
}

}  // namespace dl::core
