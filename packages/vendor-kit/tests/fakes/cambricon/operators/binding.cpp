// Checks of the arguments of a call.
#include "../hooks.h"
#include "call.h"

namespace fake_cnnl {
namespace {

std::string describe(const Sizes& values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

int bind_descriptor(const std::string& where, const void* descriptor, Bound* bound) {
  auto* const found = static_cast<TensorDescriptor*>(find_object(descriptor, Kind::kTensor));
  if (found == nullptr || !found->is_set)
    return misuse(where + ": its descriptor is not alive, or was not set");
  bound->layout = found->layout;
  bound->dtype = found->dtype;
  bound->sizes = found->sizes;
  bound->strides = found->strides;
  return CNNL_STATUS_SUCCESS;
}

int check_tensor(const std::string& where, const Check& check, const Bound& tensor, int device) {
  if (check.dtypes != 0 && (check.dtypes >> tensor.dtype & 1) == 0)
    return refuse(CNNL_STATUS_NOT_SUPPORTED,
                  where + ": dtype " + std::to_string(tensor.dtype) + " is not supported");
  if (check.formats != 0 && (check.formats >> tensor.layout & 1) == 0)
    return misuse(where + ": layout " + std::to_string(tensor.layout) + " is not documented");
  if (tensor.layout == CNNL_LAYOUT_NHWC && tensor.sizes.size() != 4)
    return refuse(CNNL_STATUS_BAD_PARAM, where + ": NHWC has four dimensions");
  for (size_t i = 0; i < tensor.sizes.size(); ++i) {
    if (tensor.sizes[i] < 0 || tensor.strides[i] < 0)
      return misuse(where + ": negative sizes or strides: " + describe(tensor.sizes) + ", " +
                    describe(tensor.strides));
    if (check.writes && tensor.sizes[i] > 1 && tensor.strides[i] == 0)
      return misuse(where + ": an output has elements that share memory");
  }
  if (!check.strided && !tensor.is_dense())
    return misuse(where + ": the tensor must be contiguous, but its strides are " +
                  describe(tensor.strides) + " for the shape " + describe(tensor.sizes));
  if (tensor.elements() == 0)
    return refuse(CNNL_STATUS_BAD_PARAM, where + ": the tensor has no elements");
  if (fakeCnrtHostAddress(device, tensor.base, tensor.bytes()) == nullptr)
    return misuse(where + ": " + std::to_string(tensor.bytes()) +
                  " bytes are not inside one live allocation of device " + std::to_string(device));
  return CNNL_STATUS_SUCCESS;
}

// Rejects outputs that share memory with another argument, unless both are the same tensor.
int check_overlap(const Function& function, const std::vector<BoundArgument>& bound) {
  struct Region {
    const Check* check;
    const Bound* tensor;
    uintptr_t begin, end;
  };
  std::vector<Region> regions;
  for_each_tensor(function, bound, [&](const Check& check, const Bound& tensor) {
    const auto begin = reinterpret_cast<uintptr_t>(tensor.base);
    // Views with gaps may be interleaved without sharing elements.
    if (tensor.is_dense()) regions.push_back({&check, &tensor, begin, begin + tensor.bytes()});
  });
  for (const Region& out : regions) {
    if (!out.check->writes) continue;
    for (const Region& other : regions) {
      if (&other == &out || other.begin >= out.end || out.begin >= other.end) continue;
      if (!other.check->writes && other.begin == out.begin && other.end == out.end) continue;
      return misuse(std::string(function.name) + ": " + out.check->name +
                    " shares part of its memory with " + other.check->name);
    }
  }
  return CNNL_STATUS_SUCCESS;
}

}  // namespace

int64_t Bound::reach() const {
  if (elements() == 0) return 0;
  int64_t reach = 1;
  for (size_t i = 0; i < sizes.size(); ++i) reach += (sizes[i] - 1) * strides[i];
  return reach;
}

bool Bound::is_dense() const {
  int64_t next = 1;
  if (elements() == 0) return true;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != next) return false;
    next *= sizes[i];
  }
  return true;
}

int bind_arguments(const Function& function, const fake_cambricon::Value* values, int device,
                   std::vector<BoundArgument>* bound) {
  for (int i = 0; i < function.count; ++i) {
    const Check& check = function.arguments[i];
    const fake_cambricon::Value& value = values[i];
    const std::string where = std::string(function.name) + ", " + check.name;
    switch (check.kind) {
      case ArgumentKind::k_integer:
      case ArgumentKind::k_boolean:
        bound->emplace_back(value.integer);
        break;
      case ArgumentKind::k_floating:
        bound->emplace_back(value.number);
        break;
      case ArgumentKind::k_scalar:
        if (value.object == nullptr && !check.optional)
          return refuse(CNNL_STATUS_BAD_PARAM, where + " is NULL");
        bound->emplace_back(Number(value.object));
        break;
      case ArgumentKind::k_object: {
        Described described;
        if (value.object != nullptr || !check.optional) {
          auto* const found =
              static_cast<OperatorDescriptor*>(find_object(value.object, kind_of_type(check.type)));
          if (found == nullptr) return misuse(where + ": the descriptor is not alive");
          described = found->values;
        }
        bound->emplace_back(std::move(described));
        break;
      }
      case ArgumentKind::k_tensor: {
        Bound tensor;
        const void* const descriptor =
            check.descriptor < 0 ? nullptr : values[check.descriptor].object;
        if (value.object == nullptr && !check.optional)
          return refuse(CNNL_STATUS_BAD_PARAM, where + " is NULL");
        if (value.object != nullptr) {
          if (const int status = bind_descriptor(where, descriptor, &tensor)) return status;
          tensor.present = true;
          tensor.base = const_cast<void*>(value.object);
          if (const int status = check_tensor(where, check, tensor, device)) return status;
        }
        bound->emplace_back(std::move(tensor));
        break;
      }
      case ArgumentKind::k_tensors: {
        // The number of entries is the argument before the descriptors, or after the pointers.
        const auto* const descriptors = static_cast<const void* const*>(values[i - 1].object);
        const auto* const pointers = static_cast<const void* const*>(value.object);
        int64_t count = -1;
        for (int j = 0; j < function.count; ++j) {
          const std::string name = function.arguments[j].name;
          if (name == "concat_num" || name == "indices_dim") count = values[j].integer;
        }
        if (descriptors == nullptr || pointers == nullptr || count < 1)
          return refuse(CNNL_STATUS_BAD_PARAM, where + ": the list is empty");
        BoundList list;
        for (int64_t j = 0; j < count; ++j) {
          Bound tensor;
          if (descriptors[j] != nullptr) {
            if (const int status = bind_descriptor(where, descriptors[j], &tensor)) return status;
            tensor.present = true;
            tensor.base = const_cast<void*>(pointers[j]);
            if (const int status = check_tensor(where, check, tensor, device)) return status;
          }
          list.tensors.push_back(std::move(tensor));
        }
        bound->emplace_back(std::move(list));
        break;
      }
      default:  // handles, descriptors and workspaces, which are checked on their own
        bound->emplace_back(std::monostate());
    }
  }
  return check_overlap(function, *bound);
}

}  // namespace fake_cnnl
