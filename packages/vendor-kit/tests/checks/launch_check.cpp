#include "dl/kit/launch_check.h"

#include <cstdint>

#include "check.h"

namespace kit = dl::kit;

namespace {

// A kernel with a pointer and an int, on a device like NVIDIA's.
struct Case {
  struct alignas(16) {
    uint64_t memory = 64;
    int32_t count = 3;
  } packed;
  dl_kernel_argument_t layout[2] = {{0, 8, DL_KERNEL_MEMORY, 0}, {8, 4, DL_KERNEL_VALUE, 0}};
  dl_kernel_properties_t limits{};
  dl_kernel_launch_t launch{};
  std::vector<size_t> parameters = {8, 4};

  Case() {
    for (uint32_t& most : limits.max_grid) most = 65535;
    for (uint32_t& most : limits.max_block) most = 1024;
    limits.max_block_threads = 1024;
    limits.max_shared_bytes = 1000;
    limits.max_argument_bytes = 4096;
    launch.struct_size = sizeof launch;
    for (int d = 0; d < 3; ++d) launch.grid[d] = launch.block[d] = 1;
    launch.arguments = &packed;
    launch.argument_bytes = sizeof packed;
    launch.layout = layout;
    launch.argument_count = 2;
  }
  StatusInfo status(bool counted = true) {
    return thrown(
        [&] { kit::launch_arguments("k", &launch, limits, counted ? &parameters : nullptr); });
  }
};

template <class Change>
bool refused(const char* part, const Change& change, bool counted = true) {
  Case one;
  change(one);
  const StatusInfo status = one.status(counted);
  return status.code == DL_INVALID_ARGUMENT && mentions(status, "kernel 'k': ") &&
         mentions(status, part);
}

}  // namespace

MAIN {
  Case good;
  const auto arguments = kit::launch_arguments("k", &good.launch, good.limits, &good.parameters);
  CHECK(arguments.size() == 2 && arguments[0] == &good.packed);
  CHECK(arguments[1] == &good.packed.count);

  CHECK(refused("grid 1x0x1 is empty", [](Case& c) { c.launch.grid[1] = 0; }));
  CHECK(refused("larger than 65535x65535x65535", [](Case& c) { c.launch.grid[2] = 65536; }));
  CHECK(refused("2048 threads per block", [](Case& c) {
    c.launch.block[0] = 1024;
    c.launch.block[1] = 2;
  }));
  CHECK(refused("1001 shared bytes", [](Case& c) { c.launch.shared_bytes = 1001; }));
  CHECK(refused("5000 bytes of arguments", [](Case& c) { c.launch.argument_bytes = 5000; }));
  CHECK(refused("1 arguments for the kernel's 2 parameters",
                [](Case& c) { c.launch.argument_count = 1; }));
  CHECK(refused("argument 1 has 4 bytes, its parameter 8", [](Case& c) { c.parameters[1] = 8; }));
  CHECK(refused("argument 0 is outside", [](Case& c) { c.layout[0].offset = 9; }));
  CHECK(refused("are NULL", [](Case& c) { c.launch.layout = nullptr; }));
  CHECK(refused("the flags of a launch", [](Case& c) { c.launch.flags = 1; }));
  CHECK(refused("too short", [](Case& c) { c.launch.struct_size = 16; }));
  // The parameters are unknown.
  Case fewer;
  fewer.launch.argument_count = 1;
  CHECK(fewer.status(false).code == DL_OK);
  CHECK(refused("unknown kind", [](Case& c) { c.layout[1].kind = 7; }, false));
}
