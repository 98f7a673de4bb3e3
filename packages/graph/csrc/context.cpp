#include "context.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>

#include "dl/dtype.h"
#include "failure.h"

namespace dl::graph {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kSmallestBlock = uint64_t{1} << 16;
constexpr int64_t kMostDimensions = 64;
constexpr size_t kStateWords = 2;

template <typename Body>
diopiError_t guarded(diopiContextHandle_t ctx, Body&& body) noexcept {
  try {
    body(Context::of(ctx));
    return diopiSuccess;
  } catch (const std::exception& error) {
    try {
      Context::of(ctx).failed(error.what());
    } catch (...) {
      return diopiErrorOccurred;  // no memory for a message
    }
    return diopiErrorOccurred;
  }
}

std::vector<int64_t> numbers(const diopiSize_t& given) {
  if (given.len < 0 || given.len > kMostDimensions || (given.len > 0 && given.data == nullptr))
    throw Failure("diopiRequireTensor was called with invalid sizes or strides");
  return given.len == 0 ? std::vector<int64_t>()
                        : std::vector<int64_t>(given.data, given.data + given.len);
}

diopiError_t require_tensor(diopiContextHandle_t ctx, diopiTensorHandle_t* tensor,
                            const diopiSize_t* size, const diopiSize_t* stride, diopiDtype_t dtype,
                            diopiDevice_t device) {
  return guarded(ctx, [&](Context& context) {
    if (size == nullptr) throw Failure("diopiRequireTensor was called without a size");
    std::vector<int64_t> shape = numbers(*size);
    std::vector<int64_t> strides = stride == nullptr ? std::vector<int64_t>() : numbers(*stride);
    *tensor = context.require(std::move(shape), std::move(strides), dtype, device).handle();
  });
}

diopiError_t require_buffer(diopiContextHandle_t ctx, diopiTensorHandle_t* tensor,
                            int64_t num_bytes, diopiDevice_t device) {
  return guarded(ctx, [&](Context& context) {
    *tensor = context.require({num_bytes}, {}, diopi_dtype_uint8, device).handle();
  });
}

diopiError_t generator_get_state(diopiContextHandle_t ctx, diopiConstGeneratorHandle_t generator,
                                 diopiTensorHandle_t* state) {
  return guarded(ctx, [&](Context& context) {
    const auto* from = reinterpret_cast<const dl_generator_prefix_t*>(generator);
    Handle& made =
        context.require({kStateWords * sizeof(uint64_t)}, {}, diopi_dtype_uint8, diopi_host);
    const uint64_t words[kStateWords] = {from->seed, from->offset};
    std::memcpy(made.prefix()->data, words, sizeof words);
    *state = made.handle();
  });
}

diopiError_t generator_set_state(diopiGeneratorHandle_t generator, diopiConstTensorHandle_t state) {
  auto* to = reinterpret_cast<dl_generator_prefix_t*>(generator);
  const auto* from = reinterpret_cast<const dl_tensor_prefix_t*>(state);
  uint64_t words[kStateWords];
  if (from->dtype != diopi_dtype_uint8 || from->device != diopi_host ||
      from->numel != static_cast<int64_t>(sizeof words))
    return diopiErrorOccurred;
  std::memcpy(words, from->data, sizeof words);
  to->seed = words[0];
  to->offset = words[1];
  return diopiSuccess;
}

diopiError_t record_start(diopiContextHandle_t, const char*, void** record) {
  *record = nullptr;  // there is no profiler
  return diopiSuccess;
}

diopiError_t record_end(diopiContextHandle_t, void**) { return diopiSuccess; }

diopiError_t device_error(diopiContextHandle_t ctx, dl_device_error_t** word) {
  return guarded(ctx, [&](Context& context) { *word = context.error_word(); });
}

// Returns the message of an error word, with its placeholders replaced by the fields.
std::string words_of(dl_device_error_t& error) {
  error.operator_name[sizeof error.operator_name - 1] = '\0';
  error.text[sizeof error.text - 1] = '\0';
  std::string said = error.text;
  const std::pair<const char*, std::string> fields[] = {
      {"{value}", std::to_string(error.value)},
      {"{position}", std::to_string(error.position)},
      {"{low}", std::to_string(error.low)},
      {"{high}", std::to_string(error.high)},
      {"{number}", std::to_string(error.number)}};
  for (const auto& [name, value] : fields) {
    const size_t at = said.find(name);
    if (at != std::string::npos) said.replace(at, std::strlen(name), value);
  }
  return std::string("[") + error.operator_name + "] " + said;
}

}  // namespace

const dl_handle_ops_t& handle_ops() {
  static const dl_handle_ops_t kOps = {
      sizeof(dl_handle_ops_t), require_tensor, require_buffer, generator_get_state,
      generator_set_state,     record_start,   record_end,     device_error};
  return kOps;
}

Context::Context(const Device& device) : device_(device) {
  const dl_contract_target_t& target = device.target();
  prefix_.known.magic = DL_CONTEXT_MAGIC;
  prefix_.known.version = DL_PREFIX_VERSION;
  prefix_.known.ops = &handle_ops();
  prefix_.known.stream = target.stream;
  prefix_.known.device_index = target.device;
  prefix_.known.host = target.host;
  prefix_.known.vendor = target.vendor;
  prefix_.self = this;
}

Context& Context::of(diopiContextHandle_t ctx) { return *reinterpret_cast<Prefix*>(ctx)->self; }

void Context::reset() {
  required_.clear();
  block_ = 0;
  used_ = 0;
  if (device_.can(DL_CAP_SYNCHRONOUS)) host_memory_.clear();
  required_used_ = false;
}

void* Context::require_memory(uint64_t bytes) {
  bytes = (bytes + device_.padding() + kAlignment - 1) / kAlignment * kAlignment;
  while (block_ < blocks_.size() && blocks_[block_].bytes() - used_ < bytes) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) {
    const uint64_t last = blocks_.empty() ? kSmallestBlock : 2 * blocks_.back().bytes();
    blocks_.emplace_back(device_, std::max(bytes, last));
    used_ = 0;
  }
  void* memory = blocks_[block_].data() + used_;
  used_ += bytes;
  return memory;
}

Handle& Context::require(std::vector<int64_t> shape, std::vector<int64_t> strides, int32_t dtype,
                         int32_t place) {
  required_used_ = true;
  const int64_t item = dl_dtype_bytes(dtype);
  if (item == 0) throw Failure("diopiRequireTensor was called with an invalid dtype");
  if (strides.empty() && !shape.empty()) {
    strides.assign(shape.size(), 1);
    for (size_t i = shape.size() - 1; i-- > 0;)
      if (__builtin_mul_overflow(strides[i + 1], std::max<int64_t>(shape[i + 1], 1), &strides[i]))
        throw Failure("diopiRequireTensor was called with sizes that overflow");
  }
  if (strides.size() != shape.size())
    throw Failure("diopiRequireTensor was called with another number of strides than sizes");
  __int128 span = 1;
  bool empty = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0 || strides[i] < 0)
      throw Failure("diopiRequireTensor was called with a negative size or stride");
    empty = empty || shape[i] == 0;
    span += static_cast<__int128>(shape[i] - 1) * strides[i];
    if (!empty && span > std::numeric_limits<int64_t>::max() / 16)
      throw Failure("diopiRequireTensor was called with sizes that overflow");
  }
  const int64_t bytes = empty ? 0 : static_cast<int64_t>(span) * item;
  void* memory = nullptr;
  if (bytes > 0 && place == diopi_device) {
    memory = require_memory(static_cast<uint64_t>(bytes));
  } else if (bytes > 0 && place == diopi_host) {
    host_memory_.emplace_back(static_cast<size_t>(bytes) / sizeof(int64_t) + 1);
    memory = host_memory_.back().data();
  } else if (bytes > 0) {
    throw Failure("diopiRequireTensor was called with an invalid device");
  }
  Handle& made = required_.emplace_back(handle_ops(), dtype, std::move(shape), std::move(strides),
                                        0, bytes, place, device_.target().device);
  made.move_to(memory);
  return made;
}

dl_device_error_t* Context::error_word() {
  // Operators of a synchronous device report errors themselves.
  if (device_.can(DL_CAP_SYNCHRONOUS)) return nullptr;
  if (word_.data() == nullptr) {
    DeviceMemory made(device_, sizeof(dl_device_error_t));
    device_.fill(made.data(), 0, made.bytes());
    word_ = std::move(made);
  }
  return reinterpret_cast<dl_device_error_t*>(word_.data());
}

void Context::synchronize() {
  device_.synchronize();
  host_memory_.clear();
  if (word_.data() == nullptr) return;
  dl_device_error_t error;
  device_.copy(&error, word_.data(), sizeof error, DL_COPY_DEVICE_TO_HOST);
  device_.synchronize();
  if (error.state != DL_DEVICE_ERROR_RAISED) return;
  device_.fill(word_.data(), 0, sizeof error);
  throw Failure(words_of(error), DL_ERROR);
}

}  // namespace dl::graph
