// dl_core._C.Dicl: the backend class that torch.distributed uses.
#include <torch/csrc/utils/pybind.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <pybind11/chrono.h>
#include <pybind11/functional.h>

#include "bindings/distributed.h"
#include "distributed/dicl.h"

namespace py = pybind11;

namespace dl::core {

void bind_distributed(py::module_& module) {
  using distributed::Dicl;
  using distributed::DiclOptions;
  if (py::hasattr(module, "Dicl")) return;
  py::class_<DiclOptions, c10d::Backend::Options, c10::intrusive_ptr<DiclOptions>>(module,
                                                                                   "DiclOptions")
      .def("__deepcopy__", [](const DiclOptions& options, const py::object&) {
        return c10::make_intrusive<DiclOptions>(options);
      });
  py::class_<Dicl, c10d::Backend, c10::intrusive_ptr<Dicl>>(module, "Dicl")
      .def(py::init<Dicl::MakeGloo, c10::intrusive_ptr<c10d::Store>, int, int, std::string,
                    std::chrono::milliseconds, bool>(),
           py::arg("make_gloo"), py::arg("store"), py::arg("rank"), py::arg("size"),
           py::arg("group"), py::arg("timeout"), py::arg("communicators"))
      .def_property_readonly("carrier", &Dicl::carrier,
                             "Who carries collectives: a vendor, by its name, or gloo.")
      .def_property_readonly("options", &Dicl::getBackendOptions)
      .def(
          "perform_nocolor_split", [](Dicl&, const py::object&) {}, py::arg("device"),
          "torch asks ranks that are not in a split for their part in it, which here is none.");
}

}  // namespace dl::core
