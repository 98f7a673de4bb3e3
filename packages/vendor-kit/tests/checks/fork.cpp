#include "dl/kit/fork.h"

#include <sys/wait.h>

#include "check.h"
#include "dl/kit/table.h"

namespace kit = dl::kit;

namespace {

struct Vendor : kit::Instance, kit::ForkGuard {
  static constexpr const char* kName = "toy";
  static constexpr const char* kVersion = "1";
  static constexpr uint64_t kCapabilities = DL_CAP_SYNCHRONOUS;
  static int destroyed;
  ~Vendor() { ++destroyed; }
  int32_t device_count() { return 1; }
  bool present() { return true; }
  void* memory_allocate(int32_t, uint64_t) { return this; }
  void memory_free(int32_t, void*) {}
  void memory_copy(int32_t, void*, const void*, uint64_t, int32_t, void*) {}
};
int Vendor::destroyed = 0;

// Runs `body` in a child process and returns its exit status.
template <class Body>
int in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

}  // namespace

MAIN {
  dl_vendor_t* vendor = nullptr;
  CHECK(kit::open<Vendor>(nullptr, &vendor) == nullptr);
  const dl_vendor_table_t& table = *vendor->table;
  int32_t number = 0;

  // Asking whether a device is present does not count as use of the driver: a child may do it.
  CHECK(table.present(vendor, &number) == nullptr);
  CHECK(in_child([&] { return table.device_count(vendor, &number) == nullptr; }) == 0);

  CHECK(table.device_count(vendor, &number) == nullptr && number == 1);
  CHECK(in_child([&] {
          const StatusInfo status = take(table.device_count(vendor, &number));
          const bool told = status.code == DL_UNAVAILABLE && mentions(status, "'spawn'");
          table.destroy(vendor);
          return told && Vendor::destroyed == 0 && table.present(vendor, &number) == nullptr;
        }) == 0);

  CHECK(table.device_count(vendor, &number) == nullptr);
  table.destroy(vendor);
  CHECK(Vendor::destroyed == 1);
}
