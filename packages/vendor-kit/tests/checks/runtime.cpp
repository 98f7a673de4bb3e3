// Runtime<Api> over the simulated device's driver, which fails if the device of a call is not
// current.
#include "dl/kit/runtime.h"

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "check.h"
#include "dl/kit/cuda_shaped.h"
#include "sim.h"

namespace kit = dl::kit;

namespace {

struct Sim {
  DL_KIT_CUDA_SHAPED(DL_KIT_LINKED_AS, sim)
  static bool present() { return true; }
  static simError_t properties(int device, dl_device_properties_t* all) {
    return simGetName(all->name, sizeof all->name, device);
  }
};

struct Vendor : kit::Runtime<Sim> {
  static constexpr const char* kName = "sim";
  static constexpr const char* kVersion = "1";
#ifdef FORGETS  // a mistake that must be detected
  void make_current(int32_t) {}
#endif
};

const dl_vendor_table_t& table = *kit::table_of<Vendor>();

bool ok(dl_status_t* status) {
  const StatusInfo info = take(status);
  if (info.code != DL_OK) std::fprintf(stderr, "%s\n", info.message.c_str());
  return info.code == DL_OK;
}

void* allocate(dl_vendor_t* vendor, int32_t device, uint64_t bytes) {
  void* memory = nullptr;
  CHECK(ok(table.memory_allocate(vendor, device, bytes, &memory)));
  return memory;
}

// Uses all slots for one device, from a thread where another device is current.
void use_all(dl_vendor_t* vendor, int32_t device) {
  const int32_t other = 1 - device;
  const auto elsewhere = [&] { CHECK(simSetDevice(other) == simSuccess); };
  elsewhere();
  void *memory = allocate(vendor, device, 64), *stream = nullptr, *start = nullptr, *end = nullptr;
  elsewhere();
  CHECK(ok(table.stream_create(vendor, device, 0, &stream)));
  elsewhere();
  CHECK(ok(table.event_create(vendor, device, DL_EVENT_TIMING, &start)));
  CHECK(ok(table.event_create(vendor, device, DL_EVENT_TIMING, &end)));
  for (void* queue : {stream, static_cast<void*>(nullptr)}) {
    int32_t finished = 0;
    elsewhere();
    CHECK(ok(table.event_record(vendor, device, start, queue)));
    elsewhere();
    CHECK(ok(table.memory_set(vendor, device, memory, 5 + device, 64, queue)));
    unsigned char back[64] = {};
    elsewhere();
    CHECK(ok(table.memory_copy(vendor, device, back, memory, 64, DL_COPY_DEVICE_TO_HOST, queue)));
    for (const unsigned char byte : back) CHECK(byte == 5 + device);
    elsewhere();
    CHECK(ok(table.event_record(vendor, device, end, queue)));
    elsewhere();
    CHECK(ok(table.stream_wait_event(vendor, device, stream, end)));
    elsewhere();
    CHECK(ok(table.event_synchronize(vendor, device, end)));
    elsewhere();
    CHECK(ok(table.event_query(vendor, device, end, &finished)) && finished == 1);
    double elapsed = -1;
    elsewhere();
    CHECK(ok(table.event_elapsed(vendor, device, start, end, &elapsed)) && elapsed >= 0);
    elsewhere();
    CHECK(ok(table.stream_synchronize(vendor, device, queue)));
    elsewhere();
    CHECK(ok(table.stream_query(vendor, device, queue, &finished)));
    CHECK(finished == 1 || queue == nullptr);  // other threads use the default stream too
  }
  uint64_t free_bytes = 0, total = 0;
  elsewhere();
  CHECK(ok(table.memory_info(vendor, device, &free_bytes, &total)) && free_bytes < total);
  elsewhere();
  CHECK(ok(table.device_synchronize(vendor, device)));
  elsewhere();
  CHECK(ok(table.event_destroy(vendor, device, start)));
  CHECK(ok(table.event_destroy(vendor, device, end)));
  elsewhere();
  CHECK(ok(table.stream_destroy(vendor, device, stream)));
  elsewhere();
  CHECK(ok(table.memory_free(vendor, device, memory)));
}

void check_devices(dl_vendor_t* vendor) {
  int32_t count = 0;
  CHECK(ok(table.device_count(vendor, &count)) && count == 2);
  dl_device_properties_t properties{};
  properties.struct_size = sizeof properties;
  CHECK(ok(table.device_properties(vendor, 1, &properties)));
  CHECK(std::string(properties.name) == "simulated device 1");
  use_all(vendor, 0);
  use_all(vendor, 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) threads.emplace_back([=] { use_all(vendor, i % 2); });
  for (std::thread& thread : threads) thread.join();
  size_t live = 1;
  CHECK(simLiveAllocations(0, &live) == simSuccess && live == 0);

  // Handles of the other device are reported, not used.
  void *stream = nullptr, *memory = allocate(vendor, 1, 8);
  CHECK(ok(table.stream_create(vendor, 1, 0, &stream)));
  StatusInfo status = take(table.memory_set(vendor, 0, memory, 0, 8, stream));
  CHECK(status.code == DL_ERROR && mentions(status, "does not belong to the current device") &&
        status.operation == "set");
  status = take(table.memory_set(vendor, 0, memory, 0, 8, nullptr));
  CHECK(status.code == DL_ERROR && mentions(status, "not memory of the current device"));
  CHECK(take(table.device_synchronize(vendor, 2)).code == DL_INVALID_ARGUMENT);
  CHECK(ok(table.stream_destroy(vendor, 1, stream)) && ok(table.memory_free(vendor, 1, memory)));
}

// Pageable memory may change as soon as a copy returns; copies of page-locked memory do not wait.
void check_copies(dl_vendor_t* vendor) {
  void *device = allocate(vendor, 0, 1 << 16), *locked = nullptr;
  std::vector<unsigned char> pageable(1 << 16, 1), back(1 << 16);
  for (int round = 0; round < 20; ++round) {
    std::fill(pageable.begin(), pageable.end(), static_cast<unsigned char>(round));
    CHECK(ok(table.memory_copy(vendor, 0, device, pageable.data(), 1 << 16, DL_COPY_HOST_TO_DEVICE,
                               nullptr)));
    std::fill(pageable.begin(), pageable.end(), 255);
    CHECK(ok(table.memory_copy(vendor, 0, back.data(), device, 1 << 16, DL_COPY_DEVICE_TO_HOST,
                               nullptr)));
    CHECK(back.front() == round && back.back() == round);
  }
  CHECK(ok(table.host_allocate(vendor, 64, &locked)));
  std::memset(locked, 7, 64);
  CHECK(simHold(0, 1) == simSuccess);
  CHECK(ok(table.memory_copy(vendor, 0, device, locked, 64, DL_COPY_HOST_TO_DEVICE, nullptr)));
  int32_t finished = 1;
  CHECK(ok(table.stream_query(vendor, 0, nullptr, &finished)) && finished == 0);
  void* event = nullptr;
  CHECK(ok(table.event_create(vendor, 0, 0, &event)));
  CHECK(ok(table.event_query(vendor, 0, event, &finished)) && finished == 1);  // never recorded
  CHECK(ok(table.event_record(vendor, 0, event, nullptr)));
  CHECK(ok(table.event_query(vendor, 0, event, &finished)) && finished == 0);
  CHECK(simHold(0, 0) == simSuccess);
  CHECK(ok(table.event_synchronize(vendor, 0, event)) && ok(table.event_destroy(vendor, 0, event)));
  CHECK(ok(table.memory_copy(vendor, 0, back.data(), device, 64, DL_COPY_DEVICE_TO_HOST, nullptr)));
  CHECK(back[0] == 7 && back[63] == 7);
  CHECK(ok(table.host_free(vendor, locked)));
  const StatusInfo status = take(table.memory_copy(vendor, 0, device, locked, 8, 9, nullptr));
  CHECK(status.code == DL_INVALID_ARGUMENT && mentions(status, "copy kind 9"));
  CHECK(ok(table.memory_free(vendor, 0, device)));
}

// Missing devices and an unusable driver: messages in the host's log.
struct Absent : Sim {
  std::string absence() { return reason; }
  static std::string reason;
};
std::string Absent::reason;

struct Useless : Sim {
  static simError_t device_count(int*) { throw kit::Error(DL_UNAVAILABLE, "it is too old"); }
};

// A driver whose library is not installed, so that only the library's names are known.
struct Missing : kit::Library {
  Missing() : Library({"libno_such.so.2", "libno_such.so.1"}) {}
  DL_KIT_CUDA_SHAPED(DL_KIT_LINKED_AS, sim)
  static simError_t properties(int, dl_device_properties_t*) { return simSuccess; }
};

std::vector<std::pair<int, std::string>> logged;

template <class Api>
struct Other : kit::Runtime<Api> {
  static constexpr const char* kName = "other";
  static constexpr const char* kVersion = "1";
};

void check_absence() {
  dl_host_t host{};
  host.struct_size = sizeof host;
  host.log = [](const dl_host_t*, int32_t level, const char* message) {
    logged.emplace_back(level, message);
  };
  const auto& absent = *kit::table_of<Other<Absent>>();
  const auto& useless = *kit::table_of<Other<Useless>>();
  dl_vendor_t *one = nullptr, *two = nullptr;
  CHECK(ok(kit::open<Other<Absent>>(&host, &one)) && ok(kit::open<Other<Useless>>(&host, &two)));
  int32_t found = -1;
  CHECK(ok(absent.present(one, &found)) && found == 1 && logged.empty());
  Absent::reason = "the slot is empty";
  CHECK(ok(absent.present(one, &found)) && found == 0);
  CHECK(logged.size() == 1 && logged[0].second == "the slot is empty");
  CHECK(logged[0].first == DL_LOG_INFO);
  CHECK(ok(useless.device_count(two, &found)) && found == 0 && logged.size() == 2);
  CHECK(logged[1].first == DL_LOG_WARNING && logged[1].second == "no device: it is too old");
  absent.destroy(one);
  useless.destroy(two);
  const auto& missing = *kit::table_of<Other<Missing>>();
  CHECK(ok(kit::open<Other<Missing>>(&host, &one)));
  CHECK(ok(missing.present(one, &found)) && found == 0 && logged.size() == 3);
  CHECK(logged[2].first == DL_LOG_INFO &&
        logged[2].second ==
            "no driver is installed: none of libno_such.so.2, libno_such.so.1 was "
            "found; install it, or add its folder to LD_LIBRARY_PATH");
  missing.destroy(one);
}

void nothing(const void*, simMemory_t) {}
void stray(const void* address, simMemory_t memory) {
  memory(*static_cast<void* const*>(address), 1);
}

// A failure is reported once, by its own call or by the next one that waits, and not again.
void check_failures(dl_vendor_t* vendor) {
  void* memory = nullptr;
  const StatusInfo full = take(table.memory_allocate(vendor, 0, uint64_t{1} << 40, &memory));
  CHECK(full.code == DL_OUT_OF_MEMORY && full.message == "out of memory");
  CHECK(simLaunch(nothing, &memory, sizeof memory, nullptr) == simSuccess);

  memory = allocate(vendor, 1, 16);
  CHECK(simSetDevice(0) == simSuccess);
  CHECK(simLaunch(stray, &memory, sizeof memory, nullptr) == simSuccess);
  CHECK(mentions(take(table.stream_synchronize(vendor, 0, nullptr)), "a kernel accessed memory"));
  CHECK(ok(table.stream_synchronize(vendor, 0, nullptr)));
  CHECK(ok(table.memory_free(vendor, 1, memory)));
}

void read_second_word(const void* address, simMemory_t memory) {
  memory(*static_cast<char* const*>(address) + 4, 4);
}

// The other bytes of the last element's word are accessible, but nothing after them.
void check_whole_words(dl_vendor_t* vendor) {
  void *odd = allocate(vendor, 0, 5), *even = allocate(vendor, 0, 4);
  CHECK(simSetDevice(0) == simSuccess);
  CHECK(simLaunch(read_second_word, &odd, sizeof odd, nullptr) == simSuccess);
  CHECK(ok(table.stream_synchronize(vendor, 0, nullptr)));
  CHECK(simLaunch(read_second_word, &even, sizeof even, nullptr) == simSuccess);
  CHECK(mentions(take(table.stream_synchronize(vendor, 0, nullptr)), "a kernel accessed memory"));
  CHECK(ok(table.memory_free(vendor, 0, odd)));
  CHECK(ok(table.memory_free(vendor, 0, even)));
}

}  // namespace

MAIN {
  dl_vendor_t* vendor = nullptr;
  CHECK(kit::open<Vendor>(nullptr, &vendor) == nullptr);
  if (std::getenv("SIM_DEVICES") != nullptr) {
    int32_t count = -1;
    CHECK(ok(table.device_count(vendor, &count)) && count == 0);
    CHECK(take(table.device_synchronize(vendor, 0)).code == DL_INVALID_ARGUMENT);
    return;
  }
  check_devices(vendor);
  check_copies(vendor);
  check_failures(vendor);
  check_whole_words(vendor);
  check_absence();
  table.destroy(vendor);
}
