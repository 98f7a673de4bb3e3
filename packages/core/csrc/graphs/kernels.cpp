#include "graphs/kernels.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <memory>

#include "dl/kernel.h"
#include "runtime/device.h"
#include "runtime/host.h"
#include "runtime/recorder.h"
#include "runtime/stream.h"

namespace dl::core {
namespace {

// NULL if the vendor of this device does not compile and run kernels.
const dl_kernel_extension_t* kernels_or_none(int index) {
  const auto* const found = device(index).vendor->extension<dl_kernel_extension_t>(DL_EXT_KERNEL);
  const bool complete = found != nullptr && found->properties != nullptr &&
                        found->compile != nullptr && found->load != nullptr &&
                        found->unload != nullptr && found->find != nullptr &&
                        found->launch != nullptr;
  return complete ? found : nullptr;
}

const dl_kernel_extension_t& kernels_of(int index) {
  const auto* const found = kernels_or_none(index);
  TORCH_CHECK_NOT_IMPLEMENTED(found != nullptr, "[dl] dl:", index, " (vendor ",
                              device(index).vendor->name(), ") does not support custom kernels");
  return *found;
}

}  // namespace

KernelLanguages kernel_languages(int index) {
  const auto* const kernels = kernels_or_none(index);
  if (kernels == nullptr)
    return {"", "vendor " + device(index).vendor->name() + " does not support custom kernels"};
  dl_kernel_properties_t found{};
  found.struct_size = sizeof found;
  device(index).vendor->call_extension(kernels->properties, "kernel.properties",
                                       device(index).local, &found);
  return {found.languages, found.unavailable};
}

std::string compile_kernels(int index, const std::string& language, const std::string& name,
                            const std::string& text, const std::vector<std::string>& options,
                            double seconds) {
  std::vector<const char*> words;
  for (const std::string& option : options) words.push_back(option.c_str());
  dl_kernel_source_t source{};
  source.struct_size = sizeof source;
  source.language = language.c_str();
  source.name = name.c_str();
  source.text = text.c_str();
  source.options = words.data();
  source.option_count = words.size();
  source.seconds = seconds;
  dl_kernel_code_t* code = nullptr;
  device(index).vendor->call_extension(kernels_of(index).compile, "kernel.compile",
                                       device(index).local, &source, &code);
  const std::unique_ptr<dl_kernel_code_t, void (*)(dl_kernel_code_t*)> held(
      code, [](dl_kernel_code_t* each) { each->release(each); });
  return {static_cast<const char*>(code->bytes), code->size};
}

KernelModule::KernelModule(int index, const std::string& code) : device_(index) {
  const DeviceScope scope(index);
  device(index).vendor->call_extension(kernels_of(index).load, "kernel.load", device(index).local,
                                       code.data(), uint64_t{code.size()}, &module_);
}

KernelModule::~KernelModule() {
  if (in_bad_fork()) return;
  try {
    synchronize_device(device_);
    device(device_).vendor->call_extension(kernels_of(device_).unload, "kernel.unload",
                                           device(device_).local, module_);
  } catch (const std::exception& error) {
    TORCH_WARN("[dl] kernels of dl:", device_, " were not unloaded: ", error.what());
  }
}

void* KernelModule::find(const std::string& function) const {
  const DeviceScope scope(device_);
  void* found = nullptr;
  device(device_).vendor->call_extension(kernels_of(device_).find, "kernel.find",
                                         device(device_).local, module_, function.c_str(), &found);
  return found;
}

KernelFunction::KernelFunction(int index, const std::string& code, const std::string& name)
    : device_(index), module_(index, code), function_(module_.find(name)) {}

void KernelFunction::launch(const std::array<uint32_t, 3>& grid,
                            const std::array<uint32_t, 3>& block, uint64_t shared_bytes,
                            const void* arguments, uint64_t argument_bytes,
                            const std::vector<KernelArgument>& layout) const {
  check_not_forked();
  if (is_recorded()) record_event("kernel");
  std::vector<dl_kernel_argument_t> given;
  for (const KernelArgument& each : layout) {
    const uint32_t kind = each.is_memory ? DL_KERNEL_MEMORY : DL_KERNEL_VALUE;
    given.push_back({each.offset, each.size, kind, 0});
  }
  const DeviceScope scope(device_);
  dl_kernel_launch_t how{};
  how.struct_size = sizeof how;
  std::ranges::copy(grid, how.grid);
  std::ranges::copy(block, how.block);
  how.shared_bytes = shared_bytes;
  how.stream = current_native_stream(device_);
  how.arguments = arguments;
  how.argument_bytes = argument_bytes;
  how.layout = given.data();
  how.argument_count = given.size();
  device(device_).vendor->call_extension(kernels_of(device_).launch, "kernel.launch",
                                         device(device_).local, function_, &how);
}

KernelProgram::KernelProgram(int index, const std::string& code,
                             const std::vector<KernelLaunch>& launches, size_t addresses)
    : device_(index), addresses_(addresses), module_(index, code) {
  for (const KernelLaunch& launch : launches) {
    TORCH_CHECK(launch.blocks > 0 && launch.threads > 0, "[dl] kernel ", launch.function, " has ",
                launch.blocks, " blocks of ", launch.threads,
                " threads; both numbers must be at least 1");
    for (const size_t place : launch.places)
      TORCH_CHECK(place < addresses, "[dl] kernel ", launch.function, " uses address ", place,
                  ", but the program has only ", addresses, " addresses");
  }
  for (const KernelLaunch& launch : launches)
    launches_.push_back(
        {module_.find(launch.function), launch.blocks, launch.threads, launch.places});
}

void KernelProgram::run(const std::vector<uint64_t>& addresses) const {
  check_not_forked();
  TORCH_CHECK(addresses.size() == addresses_, "[dl] kernels take ", addresses_, " addresses, not ",
              addresses.size());
  const auto& kernels = kernels_of(device_);
  const Device& owner = device(device_);
  const DeviceScope scope(device_);
  void* const stream = current_native_stream(device_);
  std::vector<uint64_t> given;
  std::vector<dl_kernel_argument_t> layout;
  for (const Launch& launch : launches_) {
    given.clear();
    layout.clear();
    for (const size_t place : launch.places) {
      layout.push_back({static_cast<uint32_t>(8 * given.size()), 8, DL_KERNEL_MEMORY, 0});
      given.push_back(addresses[place]);
    }
    dl_kernel_launch_t how{};
    how.struct_size = sizeof how;
    how.grid[0] = launch.blocks;
    how.block[0] = launch.threads;
    how.grid[1] = how.grid[2] = how.block[1] = how.block[2] = 1;
    how.stream = stream;
    how.arguments = given.data();
    how.argument_bytes = 8 * given.size();
    how.layout = layout.data();
    how.argument_count = layout.size();
    owner.vendor->call_extension(kernels.launch, "kernel.launch", owner.local, launch.function,
                                 &how);
  }
}

}  // namespace dl::core
