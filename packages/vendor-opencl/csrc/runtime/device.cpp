#include "runtime/device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "runtime/errors.h"
#include "runtime/queue.h"

namespace dl::opencl {
namespace {

thread_local int current_device = 0;

template <class T>
T number(const Driver& driver, cl::DeviceId device, cl::UInt what, T missing = {}) {
  T value{};
  const cl::Int code = driver.GetDeviceInfo(device, what, sizeof value, &value, nullptr);
  return code == cl::kSuccess ? value : missing;
}

std::string text(const Driver& driver, cl::DeviceId device, cl::UInt what) {
  size_t bytes = 0;
  if (driver.GetDeviceInfo(device, what, 0, nullptr, &bytes) != cl::kSuccess || bytes == 0)
    return {};
  std::string found(bytes, '\0');
  if (driver.GetDeviceInfo(device, what, bytes, found.data(), nullptr) != cl::kSuccess) return {};
  return found.c_str();
}

constexpr const char* kPocl = "Portable Computing Language";

// Lets PoCL compile kernels by continuations (cbs), unless the user has chosen a method: by its own
// choice, loops over work-items, PoCL 6 loses values at barriers, and takes minutes for a kernel
// with several. PoCL reads the variable when it compiles a kernel.
void choose_method(const std::string& platform) {
  if (platform == kPocl) (void)setenv("POCL_WORK_GROUP_METHOD", "cbs", 0);
}

// Returns true if kernels can use sub-groups.
bool has_sub_groups(const Driver& driver, cl::DeviceId device, const std::string& platform) {
  const char* const setting = std::getenv("DL_OPENCL_SUB_GROUPS");
  if (setting != nullptr && std::strcmp(setting, "off") == 0) return false;
  // PoCL (7) synchronizes the whole work-group where a sub-group must be synchronized, so branches
  // that only some sub-groups take give wrong results.
  if (platform == kPocl) return false;
  size_t sizes[16] = {}, bytes = 0;
  if (driver.GetDeviceInfo(device, cl::kDeviceSubGroupSizes, sizeof sizes, sizes, &bytes) !=
      cl::kSuccess)
    return false;
  size_t* const end = sizes + bytes / sizeof *sizes;
  return std::find(sizes, end, size_t{DL_OPENCL_WARP_THREADS}) != end;
}

DeviceFacts facts_of(const Driver& driver, cl::Platform platform, cl::DeviceId device) {
  DeviceFacts all{};
  all.type = number<cl::Bits>(driver, device, cl::kDeviceType);
  all.name = text(driver, device, cl::kDeviceName);
  all.version = text(driver, device, cl::kDeviceVersion);
  all.driver_version = text(driver, device, cl::kDriverVersion);
  all.extensions = text(driver, device, cl::kDeviceExtensions);
  all.il_version = text(driver, device, cl::kDeviceIlVersion);
  all.memory = number<uint64_t>(driver, device, cl::kDeviceGlobalMemory);
  all.most_allocated = number<uint64_t>(driver, device, cl::kDeviceMaxAllocation);
  all.local_memory = number<uint64_t>(driver, device, cl::kDeviceLocalMemory);
  all.parameter_bytes = number<size_t>(driver, device, cl::kDeviceMaxParameterSize);
  all.compute_units = number<uint32_t>(driver, device, cl::kDeviceMaxComputeUnits);
  all.group_threads =
      static_cast<uint32_t>(number<size_t>(driver, device, cl::kDeviceMaxWorkGroupSize));
  size_t sizes[3] = {};
  (void)driver.GetDeviceInfo(device, cl::kDeviceMaxWorkItemSizes, sizeof sizes, sizes, nullptr);
  for (int d = 0; d < 3; ++d) all.group_sizes[d] = static_cast<uint32_t>(sizes[d]);
  char platform_name[128] = {};
  (void)driver.GetPlatformInfo(platform, cl::kPlatformName, sizeof platform_name - 1, platform_name,
                               nullptr);
  all.platform = platform_name;
  choose_method(all.platform);
  all.sub_groups = has_sub_groups(driver, device, all.platform);
  return all;
}

// Returns what the device lacks, empty if it can run the kernels.
std::string shortcoming(const Driver& driver, cl::DeviceId device, const DeviceFacts& facts) {
  const auto has = [&](const char* extension) {
    return facts.extensions.find(extension) != std::string::npos;
  };
  if (number<cl::UInt>(driver, device, cl::kDeviceAvailable) == cl::kFalse)
    return "it is not available";
  if (number<cl::UInt>(driver, device, cl::kDeviceAddressBits) != 64)
    return "it has no 64-bit addresses";
  if (facts.il_version.find("SPIR-V_1.") == std::string::npos) return "it does not take SPIR-V";
  if (!has_usm(driver, device, facts.extensions) && !has_svm(driver, device))
    return "it has neither unified shared memory nor shared virtual memory";
  if (number<cl::Bits>(driver, device, cl::kDeviceDoubleConfig) == 0) return "it has no float64";
  if (!has("cl_khr_int64_base_atomics")) return "it has no 64-bit atomics";
  if (facts.group_threads < DL_OPENCL_GROUP_THREADS)
    return "its work-groups have at most " + std::to_string(facts.group_threads) + " work-items";
  return {};
}

// GPUs come first, then accelerators, then CPUs.
int rank(const DeviceFacts& facts) {
  if ((facts.type & cl::kTypeGpu) != 0) return 0;
  return (facts.type & cl::kTypeAccelerator) != 0 ? 1 : 2;
}

}  // namespace

Device::Device(const Driver& driver, cl::Platform platform, cl::DeviceId id, DeviceFacts facts)
    : driver_(driver), platform_(platform), id_(id), facts_(std::move(facts)) {}

std::string Device::identity() const {
  return facts_.platform + "\n" + facts_.name + "\n" + facts_.version + "\n" +
         facts_.driver_version;
}

void Device::open() {
  std::call_once(opened_, [this] {
    constexpr cl::Property kContextPlatform = 0x1084;
    const cl::Property properties[] = {kContextPlatform, reinterpret_cast<cl::Property>(platform_),
                                       0};
    cl::Int code = cl::kSuccess;
    context_ = driver_.CreateContext(properties, 1, &id_, nullptr, nullptr, &code);
    check(code, "clCreateContext", "device '" + facts_.name + "' was not opened");
    if (has_usm(driver_, id_, facts_.extensions)) {
      memory_ = std::make_unique<UsmMemory>(driver_, platform_, context_, id_);
    } else {
      memory_ = std::make_unique<SvmMemory>(driver_, context_);
    }
    default_queue_ = std::make_unique<Queue>(*this, context_, 0);
  });
}

cl::Context Device::context() {
  open();
  return context_;
}

Memory& Device::memory() {
  open();
  return *memory_;
}

Queue& Device::default_queue() {
  open();
  return *default_queue_;
}

void* Device::allocate(size_t bytes) {
  // Drivers of CPUs accept more than there is, and fail when it is used.
  if (bytes > facts_.memory || allocated() > facts_.memory - bytes)
    throw kit::Error(DL_OUT_OF_MEMORY, std::to_string(bytes) +
                                           " bytes of device memory are not available: " +
                                           std::to_string(allocated()) + " of " +
                                           std::to_string(facts_.memory) + " are in use");
  void* const made = memory().allocate(bytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  sizes_[made] = bytes;
  allocated_ += bytes;
  return made;
}

void Device::release(void* memory) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = sizes_.find(memory);
    if (found == sizes_.end())
      throw kit::Error(DL_INVALID_ARGUMENT,
                       "this memory was not allocated on device '" + facts_.name + "'");
    allocated_ -= found->second;
    sizes_.erase(found);
  }
  this->memory().release(memory);
}

void Device::synchronize() {
  open();
  // Locked, so that no queue is destroyed meanwhile.
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Queue* queue : queues_) queue->synchronize();
}

void Device::add(Queue* queue) {
  const std::lock_guard<std::mutex> lock(mutex_);
  queues_.insert(queue);
}

void Device::remove(Queue* queue) {
  const std::lock_guard<std::mutex> lock(mutex_);
  queues_.erase(queue);
}

Devices& Devices::here() {
  // Never destroyed: drivers shut down before the destructors of this library run.
  static Devices& devices = *new Devices;
  return devices;
}

int Devices::count() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!searched_) find();
  searched_ = true;
  return static_cast<int>(found_.size());
}

void Devices::find() {
  std::string failure;
  bool opened = false;
  for (const auto& driver : drivers()) {
    try {
      add_devices_of(*driver);
      opened = true;
    } catch (const kit::Error& error) {
      failure = error.what();
    }
  }
  if (!opened) throw kit::Error(DL_UNAVAILABLE, failure);
  std::stable_sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) {
    return rank(a->facts()) < rank(b->facts());
  });
  if (found_.size() > kMost) found_.resize(kMost);
  for (size_t i = 0; i < found_.size(); ++i) found_[i]->index_ = static_cast<int>(i);
  if (found_.empty() && reason_.empty())
    reason_ = failure.empty() ? "the installed drivers report no platform with a device" : failure;
}

void Devices::add_devices_of(const Driver& driver) {
  cl::UInt count = 0;
  const cl::Int code = driver.GetPlatformIDs(0, nullptr, &count);
  if (code != cl::kSuccess || count == 0) return;
  std::vector<cl::Platform> platforms(count);
  check(driver.GetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs",
        "the platforms were not listed");
  for (cl::Platform platform : platforms) {
    if (driver.GetDeviceIDs(platform, cl::kTypeAll, 0, nullptr, &count) != cl::kSuccess) continue;
    std::vector<cl::DeviceId> ids(count);
    if (driver.GetDeviceIDs(platform, cl::kTypeAll, count, ids.data(), nullptr) != cl::kSuccess)
      continue;
    for (cl::DeviceId id : ids) {
      DeviceFacts facts = facts_of(driver, platform, id);
      const std::string lack = shortcoming(driver, id, facts);
      if (lack.empty()) {
        found_.push_back(std::make_unique<Device>(driver, platform, id, std::move(facts)));
      } else {
        reason_ += (reason_.empty() ? "" : "; ") + std::string("'") + facts.name + "' of " +
                   facts.platform + " cannot be used: " + lack;
      }
    }
  }
}

int Devices::current_index() const { return current_device; }

Device& Devices::current() {
  if (current_device >= count())
    throw kit::Error(DL_INVALID_ARGUMENT,
                     "device " + std::to_string(current_device) + " does not exist");
  return at(current_device);
}

void Devices::set_current(int index) { current_device = index; }

}  // namespace dl::opencl
