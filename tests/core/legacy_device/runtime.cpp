// The runtime of the simulated device: its devices, memory, streams and events as a vendor table,
// without operators. The owner of a library in DIOPI's own style writes this file for a chip.
#include "dl/kit/runtime.h"

#include "dl/kit/cuda_shaped.h"
#include "sim.h"

namespace {

struct Sim {
  DL_KIT_CUDA_SHAPED(DL_KIT_LINKED_AS, sim)
  static bool present() { return true; }
  static simError_t properties(int device, dl_device_properties_t* all) {
    all->allocation_padding = 32;
    return simGetName(all->name, sizeof all->name, device);
  }
};

struct Vendor : dl::kit::Runtime<Sim> {
  static constexpr const char* kName = "simulated";
  static constexpr const char* kVersion = "1";
};

}  // namespace

DL_KIT_VENDOR(Vendor)
