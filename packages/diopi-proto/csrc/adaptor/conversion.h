// Conversion of a tensor to another dtype or memory format, by the vendor if possible, otherwise by
// the host.
#pragma once

#include "adaptor/adaptor.h"
#include "dl/handles.h"

namespace dl::adaptor {

// Conversions for one rule of one call.
struct Conversion {
  Adaptor& adaptor;
  diopiContextHandle_t ctx;
  const Rule& rule;
  bool result;  // converts a result for the host; otherwise an argument for the vendor

  // Converts all elements and counts the conversion. Throws Failure if a value does not fit, or if
  // neither the vendor nor the host supports the conversion.
  void run(diopiConstTensorHandle_t from, diopiTensorHandle_t to) const;

  // Returns a new tensor with the sizes of `like`, owned by the context. Throws Failure if the host
  // cannot allocate it.
  diopiTensorHandle_t make(const dl_tensor_prefix_t& like, int32_t dtype, bool channels_last) const;

 private:
  bool checked_here(int32_t from, int32_t to) const;
  bool by_vendor(diopiConstTensorHandle_t from, diopiTensorHandle_t to) const;
  template <typename Function>
  bool called(Function function, const char* name, diopiTensorHandle_t out,
              diopiConstTensorHandle_t in) const;
};

// Returns the prefix of a strided tensor; NULL for sparse tensors and private formats, which the
// adaptor passes on unchanged.
const dl_tensor_prefix_t* adaptable(diopiConstTensorHandle_t handle);

// Returns the name of a dtype, such as "int64", or "dtype N" if it is unknown.
std::string dtype_name(int32_t dtype);

}  // namespace dl::adaptor
