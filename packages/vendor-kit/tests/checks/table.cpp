#include <cstring>
#include <string>
#include <vector>

#include "check.h"
#include "dl/kit/operators.h"

namespace kit = dl::kit;

namespace {

// Records the calls in order.
struct Vendor : kit::Instance {
  static constexpr const char* kName = "toy";
  static constexpr const char* kVersion = "1.2";
  static constexpr uint64_t kCapabilities = DL_CAP_SYNCHRONOUS;
  static constexpr const char* kDevicesFrom = "TOY_DEVICES";

  std::vector<std::string> calls;

  explicit Vendor(const dl_host_t* given) {
    if (given == nullptr) throw kit::Error(DL_ABI_MISMATCH, "there is no host");
  }
  void enter() { calls.push_back("enter"); }
  void make_current(int32_t device) { calls.push_back("current " + std::to_string(device)); }
  bool present() { return true; }
  int32_t device_count() const { return 2; }
  dl_device_properties_t device_properties(int32_t device) {
    dl_device_properties_t all{};
    std::strcpy(all.name, device == 0 ? "first" : "second");
    all.total_memory = 77;
    return all;
  }
  void* memory_allocate(int32_t, uint64_t bytes) {
    if (bytes > 100) throw kit::Error(DL_OUT_OF_MEMORY, "100 bytes are all there is", "toy_alloc");
    calls.push_back("allocate");
    return this;
  }
  void memory_free(int32_t, void*) noexcept {}
  kit::MemoryInfo memory_info(int32_t) { return {3, 100}; }
  void memory_copy(int32_t, void*, const void*, uint64_t, int32_t, void*) { throw 1; }
  bool event_query(int32_t, void*) { return true; }
  double event_elapsed(int32_t, void*, void*) { return 2.5; }
  kit::Operators operators();
};

namespace ops {

diopiError_t diopiRelu(diopiContextHandle_t ctx, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  auto& vendor = kit::vendor_of<Vendor>(ctx);
  vendor.calls.push_back("relu");
  return diopiSuccess;
}
diopiError_t diopiNeg(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  throw kit::Error(DL_NOT_SUPPORTED, "no signs here");
}
diopiError_t diopiSin(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  throw kit::Error(DL_ERROR, "the wave broke");
}

}  // namespace ops

const dl_operator_t kOperators[] = {DL_KIT_OPERATOR(Vendor, ops, diopiRelu),
                                    DL_KIT_OPERATOR(Vendor, ops, diopiNeg),
                                    DL_KIT_OPERATOR(Vendor, ops, diopiSin)};
kit::Operators Vendor::operators() { return kOperators; }

using Calls = std::vector<std::string>;

void check_slots(dl_vendor_t* vendor, Vendor& self) {
  const dl_vendor_table_t& table = *vendor->table;
  CHECK(table.struct_size == sizeof table && table.capabilities == DL_CAP_SYNCHRONOUS);
  CHECK(std::string(table.name) == "toy" && std::string(table.version) == "1.2");
  // Slots that the class lacks are NULL. So is device_set: the kit makes the device current itself,
  // and the host need not.
  CHECK(table.stream_create == nullptr && table.host_allocate == nullptr);
  CHECK(table.device_set == nullptr && table.extensions == nullptr);

  int32_t number = 0;
  CHECK(table.present(vendor, &number) == nullptr && number == 1);
  CHECK(self.calls.empty());  // no call touched the driver
  CHECK(table.device_count(vendor, &number) == nullptr && number == 2);
  CHECK(self.calls == Calls{"enter"});

  self.calls.clear();
  void* memory = nullptr;
  CHECK(table.memory_allocate(vendor, 1, 10, &memory) == nullptr && memory == &self);
  CHECK((self.calls == Calls{"enter", "current 1", "allocate"}));

  self.calls.clear();
  for (int32_t device : {-1, 2}) {
    const StatusInfo status = take(table.memory_allocate(vendor, device, 10, &memory));
    CHECK(status.code == DL_INVALID_ARGUMENT &&
          mentions(status, "does not exist; number of devices: 2"));
    CHECK(mentions(status, std::to_string(device).c_str()) && mentions(status, "TOY_DEVICES"));
  }
  CHECK((self.calls == Calls{"enter", "enter"}));

  const StatusInfo full = take(table.memory_allocate(vendor, 0, 101, &memory));
  CHECK(full.code == DL_OUT_OF_MEMORY && full.operation == "toy_alloc");
  CHECK(take(table.memory_copy(vendor, 0, nullptr, nullptr, 0, 0, nullptr)).code == DL_ERROR);

  uint64_t free_bytes = 0, total = 0;
  CHECK(table.memory_info(vendor, 0, &free_bytes, &total) == nullptr);
  CHECK(free_bytes == 3 && total == 100);
  double elapsed = 0;
  CHECK(table.event_elapsed(vendor, 0, nullptr, nullptr, &elapsed) == nullptr && elapsed == 2.5);
  number = 0;
  CHECK(table.event_query(vendor, 0, nullptr, &number) == nullptr && number == 1);
}

// Nothing is written beyond the struct of a host compiled against a shorter one.
void check_properties(dl_vendor_t* vendor) {
  struct {
    dl_device_properties_t given;
    char beyond[8];
  } room{};
  room.given.struct_size = offsetof(dl_device_properties_t, total_memory);
  room.given.total_memory = 5;
  CHECK(vendor->table->device_properties(vendor, 1, &room.given) == nullptr);
  CHECK(std::string(room.given.name) == "second" && room.given.total_memory == 5);
  CHECK(room.given.struct_size == offsetof(dl_device_properties_t, total_memory));
  room.given.struct_size = sizeof room;
  CHECK(vendor->table->device_properties(vendor, 0, &room.given) == nullptr);
  CHECK(room.given.total_memory == 77 && room.given.struct_size == sizeof room);
}

void check_operators(dl_vendor_t* vendor, Vendor& self) {
  const dl_operator_t* list = nullptr;
  uint64_t count = 0;
  self.calls.clear();
  CHECK(vendor->table->operators(vendor, &list, &count) == nullptr && count == 3);
  CHECK(self.calls.empty());
  CHECK(std::string(list[0].name) == "diopiRelu");
  CHECK(list[0].fingerprint == DIOPI_FINGERPRINT_diopiRelu);
  using Unary = decltype(&::diopiRelu);
  const auto call = [&](uint64_t index, int32_t device, dl_vendor_t* owner) {
    dl_context_prefix_t context{};
    context.magic = DL_CONTEXT_MAGIC;
    context.version = DL_PREFIX_VERSION;
    context.device_index = device;
    context.vendor = owner;
    const auto function =
        reinterpret_cast<Unary>(reinterpret_cast<void (*)()>(list[index].function));
    return function(reinterpret_cast<diopiContextHandle_t>(&context), nullptr, nullptr);
  };
  const auto reason = [&] {
    const char* status = vendor->table->last_error(vendor);
    return std::string(status == nullptr ? "" : status);
  };
  CHECK(call(0, 1, vendor) == diopiSuccess);
  CHECK((self.calls == Calls{"current 1", "relu"}));
  CHECK(reason().empty() && vendor->table->last_error(vendor) == nullptr);
  CHECK(call(1, 0, vendor) == diopiNoImplement && reason() == "no signs here");
  CHECK(call(2, 0, vendor) == diopiErrorOccurred && reason() == "[diopiSin] the wave broke");
  CHECK(call(0, 5, vendor) == diopiErrorOccurred);
  CHECK(reason().find("device 5 does not exist") != std::string::npos);
  CHECK(call(0, 0, nullptr) == diopiErrorOccurred);
  CHECK(reason().find("has no vendor") != std::string::npos);
}

}  // namespace

DL_KIT_VENDOR(Vendor)

MAIN {
  dl_vendor_t* vendor = nullptr;
  const StatusInfo refused = take(dl_vendor_v1(nullptr, &vendor));
  CHECK(refused.code == DL_ABI_MISMATCH && vendor == nullptr);
  dl_host_t host{};
  CHECK(dl_vendor_v1(&host, &vendor) == nullptr && vendor != nullptr);
  auto& self = kit::self<Vendor>(vendor);
  CHECK(self.host == &host);
  check_slots(vendor, self);
  check_properties(vendor);
  check_operators(vendor, self);
  self.calls.clear();
  CHECK(kit::device_slot<Vendor>(vendor, 1, [](Vendor& v) { v.calls.push_back("body"); }) ==
        nullptr);
  CHECK((self.calls == Calls{"enter", "current 1", "body"}));
  CHECK(take(kit::slot<Vendor>(vendor, [](Vendor&) { throw 1; })).code == DL_ERROR);
  vendor->table->destroy(vendor);
}
