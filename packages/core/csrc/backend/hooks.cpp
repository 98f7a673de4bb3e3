// Hooks for torch.accelerator, Generator(device), pin_memory and storage resizing.
#include <ATen/core/CachingHostAllocator.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>

#include "memory/allocator.h"
#include "memory/pinned.h"
#include "memory/segments.h"
#include "memory/sharing.h"
#include "memory/transfer.h"
#include "runtime/activate.h"
#include "runtime/device.h"
#include "runtime/generator.h"
#include "runtime/host.h"

namespace dl::core {
namespace {

class Hooks final : public at::PrivateUse1HooksInterface {
 public:
  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return device_count() > 0; }
  bool hasPrimaryContext(c10::DeviceIndex index) const override {
    return index >= 0 && index < device_count();
  }
  c10::DeviceIndex deviceCount() const override {
    return static_cast<c10::DeviceIndex>(device_count());
  }
  void setCurrentDevice(c10::DeviceIndex index) const override { set_current_device(index); }
  c10::DeviceIndex getCurrentDevice() const override {
    return static_cast<c10::DeviceIndex>(current_device());
  }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex index) const override {
    const int previous = current_device();
    set_current_device(index);
    return static_cast<c10::DeviceIndex>(previous);
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex index) const override {
    const int previous = current_device();
    if (index >= 0) set_current_device(index);
    return static_cast<c10::DeviceIndex>(previous);
  }

  bool isPinnedPtr(const void* data) const override { return is_pinned(data); }
  at::Allocator* getPinnedMemoryAllocator() const override { return pinned_allocator(); }
  at::Device getDeviceFromPtr(void* data) const override {
    const int index = device_of_pointer(data);
    TORCH_CHECK(index >= 0, "[dl] the pointer ", data, " is not memory of a dl device");
    return {kDeviceType, static_cast<c10::DeviceIndex>(index)};
  }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex index) const override {
    return default_generator(index);
  }
  at::Generator getNewGenerator(c10::DeviceIndex index) const override {
    const int resolved = device_or_current(index);
    device(resolved);
    return at::make_generator<Generator>(static_cast<c10::DeviceIndex>(resolved));
  }

  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    const int index = storage.device().index();
    TORCH_CHECK(static_cast<int64_t>(bytes) >= 0, "[dl] a storage cannot be resized to ",
                static_cast<int64_t>(bytes), " bytes: a size is not negative");
    at::DataPtr grown = device_allocator()->allocate_on(bytes, index);
    const size_t kept = std::min(bytes, storage.nbytes());
    if (kept > 0) copy_within_device(index, grown.get(), storage.data(), kept);
    auto* impl = storage.unsafeGetStorageImpl();
    replace_memory(*impl, std::move(grown));
    impl->set_nbytes(bytes);
  }
};

}  // namespace

void register_hooks() { at::RegisterPrivateUse1HooksInterface(new Hooks); }

void activate() {
  static const bool once = [] {
    register_allocators();
    register_hooks();
    register_guard();
    register_graphs();
    return true;
  }();
  (void)once;
}

}  // namespace dl::core
