#include "bindings/sharing.h"

#include <cstring>
#include <string>

#include "memory/borrowing.h"
#include "memory/lending.h"
#include "memory/new_tensor.h"

namespace py = pybind11;

namespace dl::core {
namespace {

py::bytes lend_storage(const at::Tensor& tensor) {
  Loan loan;
  {
    const py::gil_scoped_release waiting;
    loan = lend(*tensor.storage().unsafeGetStorageImpl());
  }
  return {reinterpret_cast<const char*>(&loan), sizeof loan};
}

Loan read_loan(const std::string& message) {
  TORCH_CHECK_VALUE(message.size() == sizeof(Loan), "[dl] a message of ", message.size(),
                    " bytes does not name a tensor of another process; both processes need the "
                    "same dl-core");
  Loan loan;
  std::memcpy(static_cast<void*>(&loan), message.data(), sizeof loan);
  loan.vendor[sizeof loan.vendor - 1] = '\0';
  return loan;
}

at::Tensor borrow_storage(const std::string& message) {
  const Loan loan = read_loan(message);
  const py::gil_scoped_release waiting;
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(borrow(loan), kDlKeys,
                                                         caffe2::TypeMeta::Make<uint8_t>());
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous({static_cast<int64_t>(loan.bytes)});
  return tensor;
}

}  // namespace

void bind_sharing(py::module_& m) {
  m.def("can_lend", &can_lend, py::arg("index"),
        "Return True if tensors of a device can be sent to other processes.");
  m.def("lend_storage", &lend_storage, py::arg("tensor"),
        "Message with which another process opens the storage of a tensor.");
  m.def("borrow_storage", &borrow_storage, py::arg("message"),
        "Storage sent by another process, as a uint8 tensor.");
  m.def(
      "note_borrowed_again",
      [](const std::string& message) { note_borrowed_again(read_loan(message)); },
      py::arg("message"), "Same, for a storage known from an earlier message.");
  m.def("collect_loans", &collect_loans, "Free sent storages that are no longer used.");
}

}  // namespace dl::core
