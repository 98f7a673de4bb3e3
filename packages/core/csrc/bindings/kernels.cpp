#include "bindings/kernels.h"

#include <pybind11/stl.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "graphs/kernels.h"

namespace py = pybind11;

namespace dl::core {
namespace {

using Launch = std::tuple<std::string, uint32_t, uint32_t, std::vector<size_t>>;

// Launches a function with packed arguments, whose copy has the alignment that launches require.
void launch(const KernelFunction& function, const std::array<uint32_t, 3>& grid,
            const std::array<uint32_t, 3>& block, uint64_t shared_bytes, const py::bytes& arguments,
            const std::vector<std::tuple<uint32_t, uint32_t, bool>>& layout) {
  struct alignas(16) Unit {
    std::byte bytes[16];
  };
  const std::string_view given = arguments;
  std::vector<Unit> packed(given.size() / sizeof(Unit) + 1);
  std::memcpy(packed.data(), given.data(), given.size());
  std::vector<KernelArgument> positions;
  for (const auto& [offset, size, is_memory] : layout)
    positions.push_back({offset, size, is_memory});
  const py::gil_scoped_release unlock;
  function.launch(grid, block, shared_bytes, packed.data(), given.size(), positions);
}

}  // namespace

void bind_kernels(py::module_& m) {
  m.def(
      "kernel_languages",
      [](int device) {
        const KernelLanguages found = kernel_languages(device);
        return std::make_pair(found.languages, found.unavailable);
      },
      py::arg("device"),
      "Languages that a device compiles, separated by commas, and the reason if it compiles none.");
  m.def(
      "compile_kernels",
      [](int device, const std::string& language, const std::string& name, const std::string& text,
         const std::vector<std::string>& options, double seconds) {
        std::string code;
        {
          const py::gil_scoped_release unlock;
          code = compile_kernels(device, language, name, text, options, seconds);
        }
        return py::bytes(code);
      },
      py::arg("device"), py::arg("language"), py::arg("name"), py::arg("text"), py::arg("options"),
      py::arg("seconds"),
      "Return machine code for a device; an error contains the compiler's log.");
  py::class_<KernelFunction>(m, "KernelFunction")
      .def(py::init([](int device, const py::bytes& code, const std::string& name) {
             return std::make_unique<KernelFunction>(device, std::string(code), name);
           }),
           py::arg("device"), py::arg("code"), py::arg("name"),
           "Function of a module, which is loaded for it.")
      .def("launch", &launch, py::arg("grid"), py::arg("block"), py::arg("shared_bytes"),
           py::arg("arguments"), py::arg("layout"),
           "Enqueue the function on the current stream. `layout`: for each argument its offset in "
           "`arguments`, its size, and whether it is a device address.");
  py::class_<KernelProgram>(m, "KernelProgram")
      .def(
          py::init([](int device, const py::bytes& code, const std::vector<Launch>& launches,
                      size_t addresses) {
            std::vector<KernelLaunch> wanted;
            for (const auto& [function, blocks, threads, places] : launches)
              wanted.push_back({function, blocks, threads, places});
            return std::make_unique<KernelProgram>(device, std::string(code), wanted, addresses);
          }),
          py::arg("device"), py::arg("code"), py::arg("launches"), py::arg("addresses"),
          "Kernels of one module, launched in order. `launches`: for each launch the function, the "
          "number of blocks, the threads per block, and the indices of its arguments in the list "
          "of "
          "addresses that run() gets. `addresses`: length of that list.")
      .def("run", &KernelProgram::run, py::arg("addresses"),
           py::call_guard<py::gil_scoped_release>());
}

}  // namespace dl::core
