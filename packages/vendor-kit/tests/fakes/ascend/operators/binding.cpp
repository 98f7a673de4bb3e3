// Checks of phase 1.
#include <cstring>

#include "../hooks.h"
#include "executor.h"
#include "numbers.h"

namespace fake_aclnn {
namespace {

constexpr uintptr_t kBaseAlignment = 32;
constexpr size_t kMostListed = 1024;
constexpr int kMostDimensions = 8;

std::string describe(const Sizes& values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

bool is_dense(const Bound& tensor) {
  int64_t next = 1;
  if (elements(tensor) == 0) return true;
  for (size_t i = tensor.sizes.size(); i-- > 0;) {
    if (tensor.sizes[i] != 1 && tensor.strides[i] != next) return false;
    next *= tensor.sizes[i];
  }
  return true;
}

Bound bound_of(const aclTensor& tensor) {
  return {&tensor,       tensor.sizes, tensor.strides, tensor.storage,
          tensor.offset, tensor.dtype, tensor.format,  tensor.base};
}

int check_format(const std::string& where, const Check& check, const Bound& tensor) {
  // The documents list the formats of tensors with channels; elsewhere ND stands for all.
  const uint64_t allowed = check.formats;
  if (tensor.format < 0 || tensor.format > 63)
    return misuse(where + ": format " + std::to_string(tensor.format) + " does not exist");
  const size_t rank = tensor.sizes.size();
  const bool fits = tensor.format == kFormatNcl                                      ? rank == 3
                    : tensor.format == kFormatNchw || tensor.format == kFormatNhwc   ? rank == 4
                    : tensor.format == kFormatNcdhw || tensor.format == kFormatNdhwc ? rank == 5
                                                                                     : true;
  if (!fits)
    return refuse(kInvalidArgument, where + ": format " + std::to_string(tensor.format) +
                                        " has another rank than " + describe(tensor.sizes));
  const bool only_nd = allowed == uint64_t{1} << kFormatNd;
  // Functions for ND alone read no format.
  if (allowed == 0 || only_nd || (allowed >> tensor.format & 1) != 0) return kOk;
  // NCHW in the documents includes images without a batch, which have format NCL or ND.
  if (rank < 3) return kOk;
  if (rank == 3 && tensor.format == kFormatNcl) return kOk;
  if (rank == 4 && tensor.format == kFormatNchw && (allowed >> kFormatNcdhw & 1) != 0) return kOk;
  return refuse(kInvalidArgument,
                where + ": format " + std::to_string(tensor.format) + " is not supported");
}

int check_tensor(const std::string& where, const Check& check, bool written, const Bound& tensor,
                 int32_t device) {
  const size_t bytes = element_bytes(tensor.dtype);
  if (bytes == 0 || (check.dtypes != 0 && (check.dtypes >> tensor.dtype & 1) == 0))
    return refuse(kInvalidArgument,
                  where + ": dtype " + dtype_name(tensor.dtype) + " is not supported");
  const auto rank = static_cast<int>(tensor.sizes.size());
  // "1-8" in a document is a limit of 8: the library checks the upper bound alone.
  const int most = check.max_ndim < 0 ? kMostDimensions : check.max_ndim;
  const int least = check.min_ndim == 1 && most >= kMostDimensions - 1 ? 0 : check.min_ndim;
  if (rank < least || rank > most)
    return refuse(kInvalidArgument, where + ": rank " + std::to_string(rank) + " is not from " +
                                        std::to_string(least) + " to " + std::to_string(most));
  for (size_t i = 0; i < tensor.sizes.size(); ++i) {
    if (tensor.sizes[i] < 0 || tensor.strides[i] < 0)
      return misuse(where + ": negative sizes or strides: " + describe(tensor.sizes) + ", " +
                    describe(tensor.strides));
  }
  if (written && elements(tensor) != 0) {
    for (size_t i = 0; i < tensor.sizes.size(); ++i) {
      if (tensor.sizes[i] > 1 && tensor.strides[i] == 0)
        return misuse(where + ": an output has elements that share memory");
    }
  }
  if (!check.strided && !is_dense(tensor))
    return misuse(where + ": the tensor must be contiguous, but its strides are " +
                  describe(tensor.strides) + " for the shape " + describe(tensor.sizes));
  if (const int code = check_format(where, check, tensor)) return code;
  return check_address(where, tensor, device);
}

}  // namespace

int64_t reach_of(const Bound& tensor) {
  if (elements(tensor) == 0) return 0;
  int64_t reach = tensor.offset + 1;
  for (size_t i = 0; i < tensor.sizes.size(); ++i)
    reach += (tensor.sizes[i] - 1) * tensor.strides[i];
  return reach;
}

int check_address(const std::string& where, const Bound& tensor, int32_t device) {
  if (elements(tensor) == 0) return kOk;
  const int64_t reach = reach_of(tensor);
  if (tensor.offset < 0 || reach > product(tensor.storage))
    return misuse(where + ": the view reaches element " + std::to_string(reach) +
                  " of a storage of " + describe(tensor.storage));
  if (reinterpret_cast<uintptr_t>(tensor.base) % kBaseAlignment != 0)
    return misuse(where + ": the storage is not aligned to 32 bytes");
  const size_t bytes = element_bytes(tensor.dtype) * static_cast<size_t>(product(tensor.storage));
  if (fakeAclHostAddress(device, tensor.base, bytes) == nullptr)
    return misuse(where + ": the storage of " + std::to_string(bytes) +
                  " bytes is not inside one live allocation of device " + std::to_string(device));
  return kOk;
}

int bind_arguments(const Function& function, const fake_ascend::Value* values, int32_t device,
                   std::vector<Argument>* bound) {
  using fake_ascend::Kind;
  using Object = fake_aclnn::Kind;
  for (size_t i = 0; i < static_cast<size_t>(function.count); ++i) {
    const Check& check = function.arguments[i];
    const fake_ascend::Value& value = values[i];
    const bool written = is_written(function, i);
    const std::string where = std::string(function.name) + ", " + check.name;
    switch (check.kind) {
      case Kind::k_integer:
      case Kind::k_boolean:
      case Kind::k_dtype:
        bound->emplace_back(value.integer);
        continue;
      case Kind::k_floating:
        bound->emplace_back(value.number);
        continue;
      case Kind::k_string:
        bound->emplace_back(std::string(value.text == nullptr ? "" : value.text));
        continue;
      default:
        break;
    }
    const auto dead = [&] { return misuse(where + ": the object is not alive"); };
    const auto absent = [&] {
      return refuse(kNullArgument, where + ": the argument may not be NULL");
    };
    if (value.object == nullptr && !check.optional) return absent();
    switch (check.kind) {
      case Kind::k_tensor: {
        Bound tensor;
        if (value.object != nullptr) {
          if (!is_alive(value.object, Object::kTensor)) return dead();
          tensor = bound_of(*static_cast<const aclTensor*>(value.object));
          if (const int code = check_tensor(where, check, written, tensor, device)) return code;
        }
        bound->emplace_back(std::move(tensor));
        break;
      }
      case Kind::k_tensors: {
        BoundList list;
        if (value.object != nullptr) {
          if (!is_alive(value.object, Object::kTensors)) return dead();
          list.list = static_cast<const aclTensorList*>(value.object);
          if (list.list->values.size() > kMostListed)
            return refuse(kInvalidArgument, where + ": the list is too long");
          for (const aclTensor* element : list.list->values) {
            if (element == nullptr) {
              list.tensors.emplace_back();
              continue;
            }
            if (!is_alive(element, Object::kTensor)) return dead();
            list.tensors.push_back(bound_of(*element));
            // An empty tensor stands for an absent index, whatever its dtype.
            if (elements(list.tensors.back()) == 0) continue;
            if (const int code = check_tensor(where, check, written, list.tensors.back(), device))
              return code;
          }
        }
        bound->emplace_back(std::move(list));
        break;
      }
      case Kind::k_scalar: {
        Scalar scalar;
        if (value.object != nullptr) {
          if (!is_alive(value.object, Object::kScalar)) return dead();
          const auto& given = *static_cast<const aclScalar*>(value.object);
          const Dtype dtype = contract_dtype(given.dtype);
          if (given.imaginary != 0)
            return refuse(kNoKernel, where + ": complex scalars are not simulated");
          scalar = is_floating(dtype) ? Scalar(given.real) : Scalar::of(given.integer);
        }
        bound->emplace_back(scalar);
        break;
      }
      case Kind::k_ints: {
        Ints ints;
        if (value.object != nullptr) {
          if (!is_alive(value.object, Object::kInts)) return dead();
          ints = {true, static_cast<const aclIntArray*>(value.object)->values};
        }
        bound->emplace_back(std::move(ints));
        break;
      }
      default: {
        Bools bools;
        if (value.object != nullptr) {
          if (!is_alive(value.object, Object::kBools)) return dead();
          bools = {static_cast<const aclBoolArray*>(value.object)->values};
        }
        bound->emplace_back(std::move(bools));
      }
    }
  }
  return check_overlap(function, *bound);
}

}  // namespace fake_aclnn
