#include "runtime/device.h"

#include <c10/util/Exception.h>

#include <cstring>
#include <mutex>

#include "runtime/host.h"

namespace dl::core {
namespace {

std::mutex vendors_mutex;
std::vector<std::unique_ptr<Vendor>>& vendors() {
  // Leaked intentionally: static destructors of other libraries may release streams and events.
  static auto* list = new std::vector<std::unique_ptr<Vendor>>;
  return *list;
}

Device devices[kMaxDevices];
int visible_count = 0;
thread_local int current = 0;

}  // namespace

Device::Device(const Vendor& owner, int32_t number)
    : vendor(&owner),
      local(number),
      host_accessible(owner.has(DL_CAP_HOST_ACCESSIBLE)),
      synchronous(owner.has(DL_CAP_SYNCHRONOUS)),
      any_host_pointer(owner.has(DL_CAP_HOST_ACCESSIBLE | DL_CAP_ANY_HOST_POINTER)),
      reference(owner.has(DL_CAP_REFERENCE)),
      sets_device(owner.slots().device_set != nullptr) {}

void Device::set_in_driver() const {
  vendor->call(&dl_vendor_table_t::device_set, "device_set", local);
}

dl_device_properties_t Device::properties() const {
  dl_device_properties_t result{};
  result.struct_size = sizeof(result);
  if (vendor->slots().device_properties != nullptr) {
    vendor->call(&dl_vendor_table_t::device_properties, "device_properties", local, &result);
  }
  // Fall back to the vendor's name.
  if (result.name[0] == '\0') vendor->name().copy(result.name, sizeof(result.name) - 1);
  return result;
}

size_t Device::allocation_padding() const noexcept {
  try {
    return properties().allocation_padding;
  } catch (...) {
    return 0;
  }
}

std::string Device::description() const { return vendor->name() + ":" + std::to_string(local); }

size_t load_vendor(std::string name, std::string library, bool legacy, dl_adaptor_t* adaptor) {
  auto loaded = std::make_unique<Vendor>(std::move(name), std::move(library), legacy, adaptor);
  const std::lock_guard<std::mutex> guard(vendors_mutex);
  vendors().push_back(std::move(loaded));
  return vendors().size() - 1;
}

const Vendor& vendor(size_t index) {
  const std::lock_guard<std::mutex> guard(vendors_mutex);
  TORCH_CHECK(index < vendors().size(), "[dl] no vendor has index ", index);
  return *vendors()[index];
}

void set_visible_devices(const std::vector<std::pair<size_t, int32_t>>& list) {
  TORCH_CHECK(visible_count == 0, "[dl] the visible devices are already fixed for this process");
  TORCH_CHECK(list.size() <= kMaxDevices, "[dl] ", list.size(), " devices found, at most ",
              kMaxDevices, " can be visible: name fewer vendors in DL_VENDORS");
  int count = 0;
  for (const auto& [index, local] : list) {
    const Vendor& owner = vendor(index);
    TORCH_CHECK(local >= 0 && local < owner.device_count(), "[dl] vendor ", owner.name(), " has ",
                owner.device_count(), " devices, but no device ", local);
    local_indices[count] = local;
    devices[count++] = Device(owner, local);
  }
  visible_count = count;
}

int device_count() noexcept { return visible_count; }

const Device& device(int index) {
  TORCH_CHECK(
      index >= 0 && index < visible_count, "[dl] invalid device ordinal ", index, ": there ",
      visible_count == 1 ? "is 1 device" : "are " + std::to_string(visible_count) + " devices",
      " (`dl devices` lists them)");
  return devices[index];
}

const Device& device_unchecked(int index) noexcept { return devices[index]; }

int current_device() noexcept { return current; }

void set_current_device(int index) {
  device(index);
  current = index;
}

void set_current_device_unchecked(int index) noexcept { current = index; }

int device_or_current(int index) { return index < 0 ? current : index; }

}  // namespace dl::core
