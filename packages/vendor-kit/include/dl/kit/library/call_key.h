// Key of a call in a cache of executors: everything that the first phase can read, but no
// addresses.
#ifndef DL_KIT_LIBRARY_CALL_KEY_H_
#define DL_KIT_LIBRARY_CALL_KEY_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/layout.h"
#include "dl/kit/library/call.h"
#include "dl/kit/library/scalars.h"

DL_KIT_BEGIN

namespace library {

inline int64_t bits_of(double value) {
  int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline int64_t storage_elements(const View& view) {
  return view.storage_bytes / std::max<int64_t>(view.element_bytes(), 1);
}

// Everything that the first phase can read, without addresses.
inline Layout call_key(const Backend& backend, const Function& function,
                       const std::vector<Argument>& arguments) {
  Layout key;
  key.append(function.index);
  std::vector<const void*> seen;
  for (const Argument& argument : arguments) {
    key.append(static_cast<int64_t>(argument.value.index()));
    if (const View* view = argument.view()) {
      key.append(view->dtype).append(backend.format(*view)).append(view->offset);
      key.append(storage_elements(*view)).append(view->ndim);
      for (int32_t d = 0; d < view->ndim; ++d) key.append(view->sizes[d]).append(view->strides[d]);
      // Position of an earlier tensor in the same memory.
      const auto found = std::find(seen.begin(), seen.end(), view->storage);
      key.append(found - seen.begin());
      seen.push_back(view->storage);
    } else if (const Scalar* scalar = std::get_if<Scalar>(&argument.value)) {
      const ScalarBytes bytes(scalar->value, backend.facts());
      key.append(bytes.dtype()).append(bytes.bits());
    } else if (const Ints* ints = std::get_if<Ints>(&argument.value)) {
      key.append(static_cast<int64_t>(ints->size()));
      for (const int64_t each : *ints) key.append(each);
    } else if (const Bools* bools = std::get_if<Bools>(&argument.value)) {
      key.append(static_cast<int64_t>(bools->size()));
      for (const char each : bools->values) key.append(each);
    } else if (const Doubles* doubles = std::get_if<Doubles>(&argument.value)) {
      key.append(static_cast<int64_t>(doubles->size()));
      for (const double each : *doubles) key.append(bits_of(each));
    } else if (const Dtype* dtype = std::get_if<Dtype>(&argument.value)) {
      key.append(dtype->value);
    } else if (const int64_t* integer = std::get_if<int64_t>(&argument.value)) {
      key.append(*integer);
    } else if (const double* number = std::get_if<double>(&argument.value)) {
      key.append(bits_of(*number));
    } else if (const bool* boolean = std::get_if<bool>(&argument.value)) {
      key.append(*boolean ? 1 : 0);
    } else if (const char* const* text = std::get_if<const char*>(&argument.value)) {
      const size_t length = *text == nullptr ? 0 : std::strlen(*text);
      key.append(static_cast<int64_t>(length));
      for (size_t i = 0; i < length; ++i) key.append((*text)[i]);
    }
  }
  return key;
}

}  // namespace library

DL_KIT_END

#endif  // DL_KIT_LIBRARY_CALL_KEY_H_
