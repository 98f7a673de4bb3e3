#include "bindings/host_call.h"

#include <ATen/ops/clone.h>
#include <pybind11/stl.h>
#include <torch/csrc/autograd/python_variable.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "aten/fallback/host_arguments.h"
#include "memory/graph_pools.h"
#include "runtime/device.h"

namespace py = pybind11;

namespace dl::core {
namespace {

// Of the memory that a tensor can touch.
std::pair<const char*, const char*> range_of(const at::Tensor& tensor) {
  if (tensor.numel() == 0) return {nullptr, nullptr};
  int64_t elements = 1;
  for (int64_t i = 0; i < tensor.dim(); ++i) elements += (tensor.size(i) - 1) * tensor.stride(i);
  const char* first = static_cast<const char*>(tensor.const_data_ptr());
  return {first, first + elements * static_cast<int64_t>(tensor.itemsize())};
}

// A function that computes on the CPU, called with tensors of a device in whose memory the CPU can
// do that: nothing is copied. It takes a list, which it may empty, and returns one.
class HostCall {
 public:
  HostCall(int device, py::function function, std::vector<bool> written,
           std::vector<bool> on_device, std::vector<at::Tensor> kept)
      : device_(device),
        function_(std::move(function)),
        written_(std::move(written)),
        writes_(std::find(written_.begin(), written_.end(), true) != written_.end()),
        on_device_(std::move(on_device)),
        kept_(std::move(kept)) {
    const Device& owner = ::dl::core::device(device);
    if (!owner.host_accessible || !owner.synchronous) {
      throw py::value_error(c10::str("[dl] the CPU cannot compute in the memory of dl:", device,
                                     " (vendor ", owner.vendor->name(), ")"));
    }
  }

  // None, and nothing has run: an argument that is written to shares memory with another one.
  py::object run(const py::list& arguments) {
    if (arguments.size() != written_.size())
      throw py::value_error("a function on the host takes another number of arguments");
    if (is_capturing(device_))
      check_not_capturing(device_, "a graph that was compiled for the CPU");
    if (writes_ && is_entangled(arguments)) return py::none();
    HostArguments host(device_, Twins::alias, true);
    host.begin();
    for (const at::Tensor& each : kept_) host.note_cpu_input(each);
    py::list given;
    for (size_t i = 0; i < written_.size(); ++i) given.append(on_host(host, arguments[i], i));
    const py::list made = function_(std::move(given));
    host.finish();
    return on_device(host, made);
  }

 private:
  py::object on_host(HostArguments& host, const py::object& value, size_t place) const {
    if (!THPVariable_Check(value.ptr())) return value;
    at::Tensor tensor = THPVariable_Unpack(value.ptr());
    if (tensor.device().type() != kDeviceType) {
      host.note_cpu_input(tensor);
      return value;
    }
    TORCH_CHECK(tensor.get_device() == device_, "[dl] argument ", place, " is on ", tensor.device(),
                ", and the graph was compiled for dl:", device_);
    TORCH_CHECK(!tensor._is_zerotensor(), "[dl] argument ", place, " has no memory");
    // What was compiled reads memory as it is, and knows of no flags.
    if (C10_UNLIKELY(!written_[place] && (tensor.is_conj() || tensor.is_neg())))
      tensor = tensor.resolve_conj().resolve_neg();
    return py::cast(host.to_host(tensor, written_[place]));
  }

  py::list on_device(HostArguments& host, const py::list& made) const {
    if (made.size() != on_device_.size())
      throw py::value_error("a function on the host returned another number of results");
    std::vector<py::object> results;
    for (const py::handle each : made) results.push_back(py::reinterpret_borrow<py::object>(each));
    // Results that stay on the CPU come first: what others share with them is copied.
    for (size_t i = 0; i < results.size(); ++i) {
      if (on_device_[i] || !THPVariable_Check(results[i].ptr())) continue;
      at::Tensor tensor = THPVariable_Unpack(results[i].ptr());
      if (host.views_argument(tensor) || is_kept(tensor)) {
        tensor = tensor.clone();
        results[i] = py::cast(tensor);
      }
      host.note_cpu_input(tensor);
    }
    py::list out;
    for (size_t i = 0; i < results.size(); ++i) {
      if (on_device_[i] && THPVariable_Check(results[i].ptr()))
        results[i] = py::cast(host.to_device(THPVariable_Unpack(results[i].ptr())));
      out.append(results[i]);
    }
    return out;
  }

  bool is_entangled(const py::list& arguments) const {
    std::vector<std::pair<const char*, const char*>> ranges;
    for (const py::handle each : arguments) {
      const bool lies_there = THPVariable_Check(each.ptr()) &&
                              THPVariable_Unpack(each.ptr()).device().type() == kDeviceType;
      ranges.push_back(lies_there ? range_of(THPVariable_Unpack(each.ptr()))
                                  : std::pair<const char*, const char*>{nullptr, nullptr});
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
};

}  // namespace

void bind_host_call(py::module_& m) {
  py::class_<HostCall>(m, "HostCall")
      .def(py::init<int, py::function, std::vector<bool>, std::vector<bool>,
                    std::vector<at::Tensor>>(),
           py::arg("device"), py::arg("function"), py::arg("written"), py::arg("on_device"),
           py::arg("kept") = std::vector<at::Tensor>(),
           "A function of a list of CPU tensors over the memory of those of the device. "
           "`written`: for each argument, whether the function writes to it. `on_device`: for each "
           "result, whether the caller gets it as a tensor of the device, which takes its memory "
           "over. `kept`: CPU tensors that the function keeps between calls: a result that lies in "
           "one is copied.")
      .def("run", &HostCall::run, py::arg("arguments"),
           "The results; None where an argument that is written to shares memory with another "
           "one: nothing has run.");
}

}  // namespace dl::core
