// Tensors of meanings: views, copies and conversions.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "dl/dtype.h"
#include "tensors.h"

namespace fake_computing {
namespace {

Sizes row_major(const Sizes& sizes) {
  Sizes strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<int64_t>(sizes[i], 1);
  return strides;
}

size_t at(int64_t index) { return static_cast<size_t>(index); }

}  // namespace

int64_t product(const Sizes& sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return count;
}

size_t bytes_of(Dtype dtype) { return static_cast<size_t>(dl_dtype_bytes(dtype)); }

Tensor::Tensor(void* data, Sizes sizes, Sizes strides, Dtype dtype, std::shared_ptr<void> keep)
    : state_(std::make_shared<State>()) {
  state_->sizes = std::move(sizes);
  state_->strides = std::move(strides);
  state_->keep = std::move(keep);
  dl_tensor_prefix_t& prefix = state_->prefix;
  prefix = {};
  prefix.magic = DL_TENSOR_MAGIC;
  prefix.version = DL_PREFIX_VERSION;
  prefix.sizes = state_->sizes.data();
  prefix.strides = state_->strides.data();
  prefix.ndim = rank();
  prefix.numel = product(state_->sizes);
  prefix.dtype = dtype;
  prefix.device = diopi_device;
  prefix.data = prefix.storage = prefix.numel == 0 ? nullptr : data;
  int64_t reach = prefix.numel == 0 ? 0 : 1;
  for (size_t i = 0; i < state_->sizes.size() && reach != 0; ++i)
    reach += (state_->sizes[i] - 1) * state_->strides[i];
  prefix.storage_bytes = reach * static_cast<int64_t>(bytes_of(dtype));
  if (is_contiguous()) prefix.flags = DL_TENSOR_CONTIGUOUS;
}

Tensor::operator diopiTensorHandle_t() const {
  return state_ == nullptr ? nullptr : reinterpret_cast<diopiTensorHandle_t>(&state_->prefix);
}

bool Tensor::is_contiguous() const {
  int64_t next = 1;
  if (state_->prefix.numel == 0) return true;
  for (size_t i = sizes().size(); i-- > 0;) {
    if (sizes()[i] != 1 && strides()[i] != next) return false;
    next *= sizes()[i];
  }
  return true;
}

void Tensor::set_view_shape(const Sizes& sizes) const {
  if (state_->report) state_->report(sizes);
}

Tensor Tensor::view(Sizes sizes, Sizes strides, int64_t offset) const {
  char* first = static_cast<char*>(data());
  if (first != nullptr) first += offset * static_cast<int64_t>(bytes_of(dtype()));
  return Tensor(first, std::move(sizes), std::move(strides), dtype(), state_->keep);
}
Tensor Tensor::narrow(int64_t dim, int64_t start, int64_t length) const {
  Sizes changed = sizes();
  changed[at(wrap(dim))] = length;
  return view(changed, strides(), start * strides()[at(wrap(dim))]);
}
Tensor Tensor::select(int64_t dim, int64_t index) const {
  return narrow(dim, index, 1).squeeze(dim);
}
Tensor Tensor::transpose(int64_t a, int64_t b) const {
  Sizes new_sizes = sizes(), new_strides = strides();
  std::swap(new_sizes[at(wrap(a))], new_sizes[at(wrap(b))]);
  std::swap(new_strides[at(wrap(a))], new_strides[at(wrap(b))]);
  return view(new_sizes, new_strides);
}
Tensor Tensor::unsqueeze(int64_t dim) const {
  Sizes new_sizes = sizes(), new_strides = strides();
  const int64_t place = dim < 0 ? dim + rank() + 1 : dim;
  new_sizes.insert(new_sizes.begin() + place, 1);
  new_strides.insert(new_strides.begin() + place, 1);
  return view(new_sizes, new_strides);
}
Tensor Tensor::squeeze(int64_t dim) const {
  Sizes new_sizes = sizes(), new_strides = strides();
  new_sizes.erase(new_sizes.begin() + wrap(dim));
  new_strides.erase(new_strides.begin() + wrap(dim));
  return view(new_sizes, new_strides);
}
Tensor Tensor::permute(const Sizes& dims) const {
  Sizes new_sizes, new_strides;
  for (const int64_t dim : dims) {
    new_sizes.push_back(size(dim));
    new_strides.push_back(strides()[at(wrap(dim))]);
  }
  return view(new_sizes, new_strides);
}
Tensor Tensor::expand(const Sizes& to) const {
  demand(to.size() >= sizes().size(), "a shape cannot be expanded to one with fewer dimensions");
  Sizes new_strides(to.size(), 0);
  const size_t shift = to.size() - sizes().size();
  for (size_t i = 0; i < sizes().size(); ++i) {
    demand(sizes()[i] == 1 || sizes()[i] == to[i + shift], "a shape cannot be expanded");
    if (sizes()[i] != 1) new_strides[i + shift] = strides()[i];
  }
  return view(to, new_strides);
}
Tensor Tensor::reshape(Sizes to) const {
  demand(product(to) == numel(), "a shape has another number of elements");
  Sizes new_strides = row_major(to);
  return contiguous().view(std::move(to), std::move(new_strides));
}
Tensor Tensor::contiguous() const {
  if (is_contiguous()) return *this;
  Tensor copy = empty_like(*this);
  assign(copy, *this);
  return copy;
}
Tensor Tensor::to(Dtype wanted) const {
  if (wanted == dtype()) return *this;
  Tensor copy = empty(sizes(), wanted);
  assign(copy, *this);
  return copy;
}

Tensor view_of(diopiConstTensorHandle_t handle) {
  const auto& prefix = *reinterpret_cast<const dl_tensor_prefix_t*>(handle);
  return Tensor(prefix.data, Sizes(prefix.sizes, prefix.sizes + prefix.ndim),
                Sizes(prefix.strides, prefix.strides + prefix.ndim),
                static_cast<Dtype>(prefix.dtype));
}
Tensor empty(const Sizes& sizes, Dtype dtype) {
  const size_t bytes = static_cast<size_t>(product(sizes)) * bytes_of(dtype);
  std::shared_ptr<void> memory;
  if (bytes != 0) {
    void* block = nullptr;
    if (posix_memalign(&block, 64, bytes) != 0) throw std::bad_alloc();
    std::memset(block, 0, bytes);
    memory.reset(block, std::free);
  }
  return Tensor(memory.get(), sizes, row_major(sizes), dtype, memory);
}
Tensor filled(const Sizes& sizes, Dtype dtype, double value) {
  Tensor made = empty(sizes, dtype);
  RUN(diopiFill, made, Scalar(value));
  return made;
}
void assign(const Tensor& to, const Tensor& from) {
  if (to.numel() == 0 && from.numel() == 0) return;
  RUN(diopiCopyInp, from, to);
}
Sizes broadcast(const Sizes& a, const Sizes& b) {
  Sizes result(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    demand(x == y || x == 1 || y == 1, "shapes do not broadcast");
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}
bool is_floating(Dtype dtype) {
  switch (dtype) {
    case diopi_dtype_float16:
    case diopi_dtype_bfloat16:
    case diopi_dtype_float32:
    case diopi_dtype_float64:
    case diopi_dtype_complex64:
    case diopi_dtype_complex128:
      return true;
    default:
      return false;
  }
}
Dtype promote(Dtype a, Dtype b) {
  const auto level = [](Dtype x) {
    constexpr Dtype kOrder[] = {diopi_dtype_bool,    diopi_dtype_uint8,     diopi_dtype_int8,
                                diopi_dtype_int16,   diopi_dtype_int32,     diopi_dtype_int64,
                                diopi_dtype_float16, diopi_dtype_bfloat16,  diopi_dtype_float32,
                                diopi_dtype_float64, diopi_dtype_complex64, diopi_dtype_complex128};
    return std::find(std::begin(kOrder), std::end(kOrder), x) - std::begin(kOrder);
  };
  const auto is_either = [&](Dtype x, Dtype y) { return (a == x && b == y) || (a == y && b == x); };
  if (is_either(diopi_dtype_uint8, diopi_dtype_int8)) return diopi_dtype_int16;
  if (is_either(diopi_dtype_float16, diopi_dtype_bfloat16)) return diopi_dtype_float32;
  if (is_either(diopi_dtype_float64, diopi_dtype_complex64)) return diopi_dtype_complex128;
  return level(a) >= level(b) ? a : b;
}

}  // namespace fake_computing
