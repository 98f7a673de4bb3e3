#include "legacy/check.h"

#include <algorithm>
#include <array>

#include "diopi/diopirt.h"

namespace dl::legacy {
namespace {

// Sizes of a tensor, values of a diopiSize_t, or a part of either.
struct Sizes {
  const int64_t* data = nullptr;
  int64_t count = 0;

  const int64_t* begin() const { return data; }
  const int64_t* end() const { return data + count; }
  bool operator==(const Sizes& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }
};

std::string shown(const Sizes& sizes) {
  std::string text = "(";
  for (const int64_t size : sizes) text += (text.size() == 1 ? "" : ", ") + std::to_string(size);
  return text + (sizes.count == 1 ? ",)" : ")");
}

// Returns true if `from` broadcasts to `to`.
bool expands(const Sizes& from, const Sizes& to) {
  if (from.count > to.count) return false;
  const int64_t* target = to.end() - from.count;
  for (int64_t i = 0; i < from.count; ++i)
    if (from.data[i] != 1 && from.data[i] != target[i]) return false;
  return true;
}

class Check {
 public:
  explicit Check(void* const* values) : values_(values) {}

  Finding run(const Rule& rule) {
    if (rule.is.kind == DL_LEGACY_REQUIRED) return required(rule);
    if (rule.is.kind == DL_LEGACY_DIM) return dimensions(rule);
    if (rule.is.type == DL_LEGACY_TENSORS) {
      Finding found;
      for (int64_t i = 0; i < length(rule.is.count) && found.code == diopiSuccess; ++i)
        found = tested(rule, prefix(array(rule.is.position)[i]));
      return found;
    }
    if (rule.is.type == DL_LEGACY_SIZES) return matched(rule, size_argument(rule.is.position));
    return tested(rule, tensor(rule.is.position));
  }

 private:
  static const dl_tensor_prefix_t* prefix(diopiConstTensorHandle_t handle) {
    return handle == nullptr ? nullptr : diopirt_tensor(handle);
  }
  static Sizes sizes_of(const dl_tensor_prefix_t& tensor) { return {tensor.sizes, tensor.ndim}; }

  const dl_tensor_prefix_t* tensor(int32_t position) const {
    return prefix(*static_cast<diopiConstTensorHandle_t*>(values_[position]));
  }
  diopiConstTensorHandle_t* array(int32_t position) const {
    return *static_cast<diopiConstTensorHandle_t**>(values_[position]);
  }
  int64_t length(int32_t position) const { return *static_cast<int64_t*>(values_[position]); }
  Sizes size_argument(int32_t position) const {
    const auto& given = *static_cast<const diopiSize_t*>(values_[position]);
    return {given.data, given.data == nullptr ? 0 : given.len};
  }
  // The values of a parameter of dimensions; storage for a single integer is in `one`.
  Sizes dims_argument(int32_t position, int32_t type, int64_t& one) const {
    if (type == DL_LEGACY_SIZES) return size_argument(position);
    const int64_t* given = &one;
    if (type == DL_LEGACY_INTEGER) {
      one = *static_cast<const int64_t*>(values_[position]);
    } else {
      const auto* optional = *static_cast<const int64_t* const*>(values_[position]);
      if (optional == nullptr) return {nullptr, 0};
      one = *optional;
    }
    return {given, 1};
  }

  static Finding invalid(const Rule& rule, const std::string& text) {
    return {diopiErrorOccurred, rule.parameter + " " + text};
  }

  Finding required(const Rule& rule) const {
    if (rule.is.type == DL_LEGACY_TENSOR) {
      if (tensor(rule.is.position) != nullptr) return {};
      return invalid(rule, "is NULL or not a tensor; it is not optional");
    }
    for (int64_t i = 0; i < length(rule.is.count); ++i)
      if (array(rule.is.position) == nullptr || prefix(array(rule.is.position)[i]) == nullptr)
        return invalid(rule, "has the entry " + std::to_string(i) +
                                 ", which is NULL or not a tensor; it is not optional");
    return {};
  }

  Finding dimensions(const Rule& rule) const {
    const dl_tensor_prefix_t* of = tensor(rule.is.other);
    if (of == nullptr) return {};
    int64_t one = 0;
    const int64_t rank = std::max<int64_t>(of->ndim, 1);
    std::vector<bool> seen(static_cast<size_t>(rank), false);
    for (const int64_t dim : dims_argument(rule.is.position, rule.is.type, one)) {
      if (dim < -rank || dim >= rank)
        return invalid(rule, "is " + std::to_string(dim) + ", not a dimension of a tensor with " +
                                 std::to_string(of->ndim) + " dimensions");
      auto known = seen[static_cast<size_t>(dim < 0 ? dim + rank : dim)];
      if (known) return invalid(rule, "has the dimension " + std::to_string(dim) + " twice");
      known = true;
    }
    return {};
  }

  // A tensor that is NULL is optional, because a rule of kind REQUIRED comes first.
  Finding tested(const Rule& rule, const dl_tensor_prefix_t* tensor) {
    if (tensor == nullptr) return {};
    if (rule.is.kind == DL_LEGACY_DTYPE) return dtype(rule, *tensor);
    if (rule.is.kind == DL_LEGACY_SHAPE) return matched(rule, sizes_of(*tensor));
    if (rule.is.kind == DL_LEGACY_EXPANDS) return expanded(rule, *tensor);
    if (rule.is.kind == DL_LEGACY_REDUCES) return reduced(rule, *tensor);
    if (rule.is.kind == DL_LEGACY_JOINS) return joined(rule, *tensor);
    if (rule.is.kind == DL_LEGACY_HOLDS) return held(rule, *tensor);
    return broadcast(rule, *tensor);
  }

  Finding dtype(const Rule& rule, const dl_tensor_prefix_t& tensor) const {
    bool allowed = true;
    if (rule.is.dtypes != 0) {
      allowed = tensor.dtype >= 0 && tensor.dtype < 64 && (rule.is.dtypes >> tensor.dtype & 1) != 0;
    } else if (const dl_tensor_prefix_t* like = this->tensor(rule.is.other)) {
      allowed = tensor.dtype == like->dtype;
    }
    if (allowed) return {};
    return {diopiDtypeNotSupported, rule.parameter + " has a dtype other than " + rule.text};
  }

  // Replaces `rest` by the sizes that the only unbound sequence of a pattern takes. Returns false
  // if the number of dimensions is wrong.
  bool fits(const Rule& rule, int64_t count, int64_t& rest) const {
    bool open = false;
    rest = count;
    for (const dl_legacy_size_t& word : rule.sizes) {
      if (word.kind != DL_LEGACY_SEQUENCE) {
        rest -= 1;
      } else if (bound_[word.value]) {
        rest -= sequences_[word.value].count;
      } else {
        open = true;
      }
    }
    return open ? rest >= 0 : rest == 0;
  }

  Finding matched(const Rule& rule, const Sizes& sizes) {
    int64_t rest = 0;
    bool same = fits(rule, sizes.count, rest);
    const int64_t* at = sizes.begin();
    for (const dl_legacy_size_t& word : rule.sizes) {
      if (!same) break;
      if (word.kind == DL_LEGACY_SEQUENCE) {
        Sizes& known = sequences_[word.value];
        const Sizes part{at, bound_[word.value] ? known.count : rest};
        if (!bound_[word.value]) known = part;
        bound_[word.value] = true;
        same = known == part;
        at += part.count;
        continue;
      }
      if (word.kind == DL_LEGACY_NUMBER) same = *at == word.value;
      if (word.kind == DL_LEGACY_NAME) {
        int64_t& known = names_[word.value];
        if (known < 0) known = *at;
        same = known == *at;
      }
      ++at;
    }
    return same ? Finding() : invalid(rule, "has the shape " + shown(sizes) + expected(rule));
  }

  // The pattern and the sizes that earlier parameters have given to its names.
  std::string expected(const Rule& rule) const {
    std::string text = ", expected " + rule.text, known;
    for (const dl_legacy_size_t& word : rule.sizes) {
      std::string size;
      if (word.kind == DL_LEGACY_NAME && names_[word.value] >= 0)
        size = std::to_string(names_[word.value]);
      else if (word.kind == DL_LEGACY_SEQUENCE && bound_[word.value])
        size = shown(sequences_[word.value]);
      else if (word.kind == DL_LEGACY_NUMBER)
        size = std::to_string(word.value);
      known += (known.empty() ? "" : ", ") + (size.empty() ? "any" : size);
    }
    return text + " = [" + known + "]";
  }

  // The sizes of a pattern whose names all have a size. A name without one fits any size; it does
  // not occur, because rules are written so that an earlier parameter has it.
  std::vector<int64_t> resolved(const Rule& rule) const {
    std::vector<int64_t> sizes;
    for (const dl_legacy_size_t& word : rule.sizes) {
      if (word.kind == DL_LEGACY_SEQUENCE) {
        const Sizes& known = sequences_[word.value];
        sizes.insert(sizes.end(), known.begin(), known.end());
      } else {
        sizes.push_back(word.kind == DL_LEGACY_NUMBER ? word.value : names_[word.value]);
      }
    }
    return sizes;
  }

  Finding held(const Rule& rule, const dl_tensor_prefix_t& tensor) const {
    int64_t count = 1;
    for (const int64_t size : resolved(rule)) count *= size;
    if (tensor.numel == count) return {};
    return invalid(rule, "has " + std::to_string(tensor.numel) + " elements, expected " +
                             std::to_string(count));
  }

  Finding expanded(const Rule& rule, const dl_tensor_prefix_t& tensor) const {
    const std::vector<int64_t> to = resolved(rule);
    const Sizes sizes = sizes_of(tensor);
    if (expands(sizes, {to.data(), static_cast<int64_t>(to.size())})) return {};
    return invalid(rule, "has the shape " + shown(sizes) + ", which does not broadcast to " +
                             rule.text + " = " +
                             shown({to.data(), static_cast<int64_t>(to.size())}));
  }

  Finding reduced(const Rule& rule, const dl_tensor_prefix_t& tensor) const {
    const dl_tensor_prefix_t* input = this->tensor(rule.is.other);
    if (input == nullptr) return {};
    int64_t one = 0;
    const Sizes dims = dims_argument(rule.is.dims, rule.is.dims_type, one);
    std::vector<bool> gone(static_cast<size_t>(input->ndim), dims.count == 0);
    for (const int64_t dim : dims)
      if (input->ndim > 0) gone[static_cast<size_t>(dim < 0 ? dim + input->ndim : dim)] = true;
    std::vector<int64_t> kept, removed;
    for (int64_t d = 0; d < input->ndim; ++d) {
      kept.push_back(gone[static_cast<size_t>(d)] ? 1 : input->sizes[d]);
      if (!gone[static_cast<size_t>(d)]) removed.push_back(input->sizes[d]);
    }
    const Sizes sizes = sizes_of(tensor);
    const Sizes with{kept.data(), static_cast<int64_t>(kept.size())};
    const Sizes without{removed.data(), static_cast<int64_t>(removed.size())};
    if (sizes == with || sizes == without) return {};
    return invalid(rule, "has the shape " + shown(sizes) + ", expected " + shown(without) + " or " +
                             shown(with));
  }

  // As in torch, an empty tensor of one dimension joins tensors of any shape.
  Finding joined(const Rule& rule, const dl_tensor_prefix_t& tensor) const {
    const Sizes out = sizes_of(tensor);
    int64_t one = 0, total = 0;
    const Sizes dims = dims_argument(rule.is.dims, rule.is.dims_type, one);
    const int64_t dim = one < 0 ? one + out.count : one;
    if (dims.count != 1 || dim < 0 || dim >= out.count)
      return invalid(
          rule, "has the shape " + shown(out) + ", which has no dimension " + std::to_string(one));
    for (int64_t i = 0; i < length(rule.is.count); ++i) {
      const dl_tensor_prefix_t* part = prefix(array(rule.is.other)[i]);
      if (part == nullptr || (part->ndim == 1 && part->sizes[0] == 0)) continue;
      bool same = part->ndim == out.count;
      for (int64_t d = 0; same && d < out.count; ++d)
        same = d == dim || part->sizes[d] == out.data[d];
      if (!same)
        return invalid(rule, "has the shape " + shown(out) + ", and entry " + std::to_string(i) +
                                 " has the shape " + shown(sizes_of(*part)));
      total += part->sizes[dim];
    }
    if (total == out.data[dim]) return {};
    return invalid(rule, "has the shape " + shown(out) + ", but the parts have " +
                             std::to_string(total) + " elements along dimension " +
                             std::to_string(dim));
  }

  Finding broadcast(const Rule& rule, const dl_tensor_prefix_t& tensor) const {
    std::vector<int64_t> to;
    std::string inputs;
    bool same = true;
    for (const int32_t position : {rule.is.other, rule.is.dims}) {
      const dl_tensor_prefix_t* input = this->tensor(position);
      if (input == nullptr) continue;
      inputs += (inputs.empty() ? "" : " and ") + shown(sizes_of(*input));
      const auto rank = static_cast<size_t>(input->ndim);
      if (rank > to.size()) to.insert(to.begin(), rank - to.size(), 1);
      for (size_t d = 0; d < rank; ++d) {
        int64_t& size = to[to.size() - rank + d];
        if (size == 1) size = input->sizes[d];
        same = same && (input->sizes[d] == 1 || input->sizes[d] == size);
      }
    }
    if (!same)
      return invalid(rule, "cannot be computed: the shapes " + inputs + " do not broadcast");
    const Sizes sizes = sizes_of(tensor);
    const Sizes wanted{to.data(), static_cast<int64_t>(to.size())};
    if (sizes == wanted) return {};
    return invalid(rule, "has the shape " + shown(sizes) + ", expected " + shown(wanted));
  }

  void* const* values_;
  std::array<int64_t, DL_LEGACY_MOST_NAMES> names_ = unbound();
  std::array<Sizes, DL_LEGACY_MOST_NAMES> sequences_{};
  std::array<bool, DL_LEGACY_MOST_NAMES> bound_{};

  static constexpr std::array<int64_t, DL_LEGACY_MOST_NAMES> unbound() {
    std::array<int64_t, DL_LEGACY_MOST_NAMES> none{};
    for (int64_t& name : none) name = -1;
    return none;
  }
};

}  // namespace

Finding check(const std::vector<std::unique_ptr<Rule>>& rules, void* const* values) {
  Check checked(values);
  for (const auto& rule : rules) {
    Finding found = checked.run(*rule);
    if (found.code != diopiSuccess) return found;
  }
  return {};
}

}  // namespace dl::legacy
