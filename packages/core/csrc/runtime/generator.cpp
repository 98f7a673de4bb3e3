#include "runtime/generator.h"

#include <ATen/EmptyTensor.h>
#include <ATen/Utils.h>
#include <c10/util/Exception.h>

#include <array>
#include <cstring>
#include <mutex>

#include "runtime/device.h"

namespace dl::core {
namespace {

constexpr size_t kStateBytes = 2 * sizeof(uint64_t);

}  // namespace

Generator::Generator(c10::DeviceIndex device, uint64_t seed)
    : c10::GeneratorImpl(c10::Device(kDeviceType, device),
                         c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
      seed_(seed) {}

void Generator::set_current_seed(uint64_t seed) {
  seed_ = seed;
  offset_ = 0;
}

uint64_t Generator::seed() {
  set_current_seed(c10::detail::getNonDeterministicRandom(false));
  return seed_;
}

void Generator::set_state(const c10::TensorImpl& state) {
  TORCH_CHECK(state.device().is_cpu() && state.dtype() == c10::scalarTypeToTypeMeta(at::kByte) &&
                  state.numel() == static_cast<int64_t>(kStateBytes) && state.is_contiguous(),
              "[dl] the state of a dl generator is a contiguous CPU uint8 tensor of ", kStateBytes,
              " elements, got one of ", state.numel(), " on ", state.device());
  const auto* bytes = static_cast<const char*>(state.data());
  std::memcpy(&seed_, bytes, sizeof(seed_));
  std::memcpy(&offset_, bytes + sizeof(seed_), sizeof(offset_));
}

c10::intrusive_ptr<c10::TensorImpl> Generator::get_state() const {
  at::TensorBase state = at::detail::empty_cpu({static_cast<int64_t>(kStateBytes)}, at::kByte);
  auto* bytes = static_cast<char*>(state.mutable_data_ptr());
  std::memcpy(bytes, &seed_, sizeof(seed_));
  std::memcpy(bytes + sizeof(seed_), &offset_, sizeof(offset_));
  return state.getIntrusivePtr();
}

Generator* Generator::clone_impl() const {
  auto* copy = new Generator(device().index(), seed_);
  copy->offset_ = offset_;
  return copy;
}

const at::Generator& default_generator(int index) {
  static auto* generators = [] {
    auto* all = new std::array<at::Generator, kMaxDevices>;
    for (int i = 0; i < kMaxDevices; ++i) {
      (*all)[i] = at::make_generator<Generator>(static_cast<c10::DeviceIndex>(i));
    }
    return all;
  }();
  const int resolved = device_or_current(index);
  device(resolved);
  return (*generators)[resolved];
}

Generator* checked_generator(const at::Generator& generator) {
  TORCH_CHECK(generator.defined() && generator.device().type() == kDeviceType,
              "Expected a 'dl' device type for generator but found '",
              generator.defined() ? generator.device().str() : "undefined", "'");
  return static_cast<Generator*>(generator.unsafeGetGeneratorImpl());
}

}  // namespace dl::core
