#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "runtime/vendor.h"

namespace dl::cpu {
namespace {

uint64_t dtype_bit(diopiDtype_t dtype) { return uint64_t(1) << static_cast<unsigned>(dtype); }

uint64_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size) : 0;
}

// Return the number of processors that this process may use; in a container, these are fewer than
// the machine has.
int32_t processor_count() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int32_t>(online) : 1;
}

// Linux shows the name of a processor on x86-64, and numbers of its maker and model on aarch64.
void read_model_name(char* name, size_t size) {
  std::snprintf(name, size, "CPU");
  std::FILE* file = std::fopen("/proc/cpuinfo", "r");
  if (file == nullptr) return;
  char line[512], maker[16] = "", part[16] = "", revision[16] = "";
  const auto copy = [&line](const char* key, char* to, size_t room) {
    const size_t length = std::strlen(key);
    if (std::strncmp(line, key, length) != 0) return false;
    const char* value = std::strchr(line, ':');
    if (value == nullptr) return false;
    value += std::strspn(value, ": \t");
    std::snprintf(to, room, "%.*s", static_cast<int>(std::strcspn(value, "\n")), value);
    return true;
  };
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (copy("model name", name, size)) break;
    copy("CPU implementer", maker, sizeof(maker));
    copy("CPU part", part, sizeof(part));
    // The last of a processor's lines.
    if (copy("CPU revision", revision, sizeof(revision))) {
      std::snprintf(name, size, "ARM processor, maker %s, part %s, revision %s", maker, part,
                    revision);
      break;
    }
  }
  std::fclose(file);
}

}  // namespace

dl_device_properties_t Vendor::device_properties(int32_t) {
  dl_device_properties_t all{};
  read_model_name(all.name, sizeof(all.name));
  all.total_memory = physical_memory();
  all.multiprocessor_count = processor_count();
  all.warp_size = 1;
  for (const diopiDtype_t dtype :
       {diopi_dtype_int8, diopi_dtype_uint8, diopi_dtype_int16, diopi_dtype_int32,
        diopi_dtype_int64, diopi_dtype_bool, diopi_dtype_float16, diopi_dtype_bfloat16,
        diopi_dtype_float32, diopi_dtype_float64}) {
    all.dtype_mask |= dtype_bit(dtype);
  }
  std::snprintf(all.architecture, sizeof(all.architecture), "%s", DL_CPU_ISA);
  return all;
}

}  // namespace dl::cpu
