#include "device.h"

#include <vector>

#include "failure.h"

namespace dl::graph {
namespace {

template <typename Slot>
Slot needed(Slot slot, const char* name) {
  if (slot == nullptr)
    throw Failure(std::string("the vendor has no ") + name + ", which a graph needs to run",
                  DL_NOT_SUPPORTED);
  return slot;
}

}  // namespace

Device::Device(const dl_contract_target_t& target) : target_(target) {
  if (target.host == nullptr || target.vendor == nullptr || target.checked == nullptr)
    throw Failure("a field of the target is NULL: host, vendor or checked");
  table_ = target.checked->table;
  needed(table_->memory_allocate, "memory_allocate");
  needed(table_->memory_free, "memory_free");
  needed(table_->memory_copy, "memory_copy");
  if (DL_HAS_FIELD(table_, dl_vendor_table_t, device_set)) set_ = table_->device_set;
  int32_t count = 0;
  if (table_->device_count != nullptr)
    check(table_->device_count(target.checked, &count), "device_count");
  if (target.device < 0 || target.device >= count)
    throw Failure("the vendor has no device " + std::to_string(target.device) + "; the count is " +
                  std::to_string(count));
  if (table_->device_properties != nullptr) {
    dl_device_properties_t properties{};
    properties.struct_size = sizeof properties;
    make_current();
    dl_status_t* const status =
        table_->device_properties(target.checked, target.device, &properties);
    // A vendor without properties asks for no padding.
    if (status != nullptr) status->release(status);
    padding_ = properties.allocation_padding;
  }
  const dl_operator_t* operators = target.operators;
  uint64_t operator_count = target.operator_count;
  if (operators == nullptr && table_->operators != nullptr)
    check(table_->operators(target.checked, &operators, &operator_count), "operators");
  for (uint64_t i = 0; i < operator_count; ++i)
    if (operators[i].name != nullptr) operators_.emplace(operators[i].name, operators[i]);
}

void Device::make_current_slow() const {
  check(set_(target_.checked, target_.device), "device_set");
}

void* Device::allocate(uint64_t bytes) const {
  make_current();
  void* memory = nullptr;
  // Round up to words: the checked table reads and writes back a word at each end.
  if (bytes > UINT64_MAX - sizeof(uint64_t) - padding_)
    throw Failure("a size in bytes overflows", DL_OUT_OF_MEMORY);
  const uint64_t whole =
      (bytes + padding_ + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
  check(table_->memory_allocate(target_.checked, target_.device, whole, &memory),
        "memory_allocate of " + std::to_string(bytes) + " bytes");
  return memory;
}

void Device::free(void* memory) const {
  dl_status_t* status = table_->memory_free(target_.checked, target_.device, memory);
  if (status != nullptr) status->release(status);
}

void Device::copy(void* to, const void* from, uint64_t bytes, dl_copy_kind_t kind) const {
  if (bytes == 0) return;
  make_current();
  check(table_->memory_copy(target_.checked, target_.device, to, from, bytes, kind, target_.stream),
        "memory_copy");
}

void Device::fill(void* memory, int value, uint64_t bytes) const {
  if (bytes == 0) return;
  make_current();
  if (table_->memory_set != nullptr) {
    check(table_->memory_set(target_.checked, target_.device, memory, value, bytes, target_.stream),
          "memory_set");
    return;
  }
  const std::vector<unsigned char> content(bytes, static_cast<unsigned char>(value));
  copy(memory, content.data(), bytes, DL_COPY_HOST_TO_DEVICE);
}

void Device::synchronize() const {
  make_current();
  if (table_->stream_synchronize != nullptr) {
    check(table_->stream_synchronize(target_.checked, target_.device, target_.stream),
          "stream_synchronize");
  } else if (table_->device_synchronize != nullptr) {
    check(table_->device_synchronize(target_.checked, target_.device), "device_synchronize");
  }
}

std::string Device::last_error() const {
  const char* said = table_->last_error == nullptr ? nullptr : table_->last_error(target_.checked);
  return said == nullptr ? "no reason given" : said;
}

dl_function_t Device::function(const char* name, uint64_t fingerprint) const {
  const auto found = operators_.find(name);
  const bool other = found != operators_.end() && found->second.fingerprint != fingerprint;
  if (found != operators_.end() && !other && found->second.function != nullptr)
    return found->second.function;
  throw Failure(std::string(name) + " is not bound: vendor " + table_->name +
                    (other ? " has it with another signature; install matching releases"
                           : " does not implement it; run the graph on another vendor"),
                DL_NOT_SUPPORTED);
}

}  // namespace dl::graph
