// One tensor brought into another dtype or layout, by the vendor where it can, else by the host.
#pragma once

#include "adaptor/adaptor.h"
#include "dl/handles.h"

namespace dl::adaptor {

// For which rule of which call something is converted.
struct Conversion {
  Adaptor& adaptor;
  diopiContextHandle_t ctx;
  const Rule& rule;
  bool result;  // on its way back to where the host expects it

  // Converts all elements, and counts it. Throws Failure: a value does not fit, or neither the
  // vendor nor the host can.
  void run(diopiConstTensorHandle_t from, diopiTensorHandle_t to) const;

  // A tensor of the sizes of `like`, owned by the context. Throws Failure where there is no memory.
  diopiTensorHandle_t make(const dl_tensor_prefix_t& like, int32_t dtype, bool channels_last) const;

 private:
  bool checked_here(int32_t from, int32_t to) const;
  bool by_vendor(diopiConstTensorHandle_t from, diopiTensorHandle_t to) const;
  template <typename Function>
  bool called(Function function, const char* name, diopiTensorHandle_t out,
              diopiConstTensorHandle_t in) const;
};

// The prefix of a dense tensor whose order of elements is known to all; NULL for others, which are
// left alone.
const dl_tensor_prefix_t* adaptable(diopiConstTensorHandle_t handle);

// "int64", or a number where the contract has no such dtype.
std::string dtype_name(int32_t dtype);

}  // namespace dl::adaptor
