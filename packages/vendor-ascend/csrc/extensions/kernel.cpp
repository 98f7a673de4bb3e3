// The kernel extension: Ascend C source text, compiled by CANN's runtime compiler. A launch has a
// number of blocks, one for each core; a block has no threads.
#include "dl/kernel.h"

#include <memory>
#include <string>
#include <utility>

#include "dl/kit/launch_check.h"
#include "dl/kit/runtime_compiler.h"
#include "extensions/rtc_api.h"
#include "runtime/vendor.h"

namespace dl::ascend {

struct LoadedFunction {
  acl::Function handle = nullptr;
  std::string name;
};

struct LoadedBinary {
  LoadedBinary() = default;
  LoadedBinary(LoadedBinary&& other) noexcept : binary(std::exchange(other.binary, nullptr)) {}
  ~LoadedBinary() {
    if (binary != nullptr) (void)the_driver().binary_unload(binary);
  }
  acl::Binary binary = nullptr;
};

namespace {

using kit::Error;

// The runtime's limit for the number of blocks, and a size of arguments that every release takes.
constexpr uint32_t kMostBlocks = 65535;
constexpr uint64_t kArgumentBytes = 4096;

// One per process, like its cache of compiled code.
kit::RuntimeCompiler<rtc::Compiler>& compiler() {
  static kit::RuntimeCompiler<rtc::Compiler> found;
  return found;
}

std::string soc() {
  const char* const name = the_driver().soc_name();
  return name == nullptr ? "" : name;
}

// The compiler's name of the device's architecture. Throws Error if it has none.
rtc::Compiler::Target target_of(int32_t device) {
  acl::Driver& driver = the_driver();
  int64_t number = 0;
  if (driver.device_attribute.available()) {
    if (driver.device_attribute(static_cast<uint32_t>(device), acl::kNpuArchitecture, &number) !=
        acl::kSuccess)
      (void)take_error_text();
  }
  // Releases that do not report it compile for one architecture only.
  const std::string name = soc();
  if (number == 0 && (name.rfind("Ascend910B", 0) == 0 || name.rfind("Ascend910_93", 0) == 0))
    number = 2201;
  if (number == 0)
    throw Error(DL_UNAVAILABLE, "CANN does not compile kernels at run time for " + name +
                                    "; Atlas A2, A3 and 950 are supported");
  return {"dav-" + std::to_string(number)};
}

dl_kernel_properties_t limits() {
  dl_kernel_properties_t all{};
  kit::put(all.architecture, soc());
  all.max_grid[0] = kMostBlocks;
  all.max_grid[1] = all.max_grid[2] = 1;
  all.max_block[0] = all.max_block[1] = all.max_block[2] = 1;
  all.max_block_threads = all.warp_size = 1;
  all.max_argument_bytes = kArgumentBytes;
  return all;
}

}  // namespace

Vendor::Vendor() = default;
Vendor::~Vendor() = default;

dl_kernel_properties_t Vendor::kernel_properties(int32_t) {
  dl_kernel_properties_t all = limits();
  kit::put(all.languages, compiler().language());
  kit::put(all.compiler, compiler().found());
  kit::put(all.unavailable, compiler().unavailable());
  return all;
}

dl_kernel_code_t* Vendor::kernel_compile(int32_t device, const dl_kernel_source_t* source) {
  return compiler().compile(source, target_of(device));
}

void* Vendor::kernel_load(int32_t device, const void* bytes, uint64_t size) {
  if (bytes == nullptr || size == 0) throw Error(DL_INVALID_ARGUMENT, "the code is NULL or empty");
  if (!the_driver().binary_load.available())
    throw Error(DL_UNAVAILABLE, "this CANN does not load code from memory; install a later one");
  acl::BinaryOption kind{acl::kMagicOption, {acl::kAicoreMagic}};
  const acl::BinaryOptions options{&kind, 1};
  LoadedBinary made;
  check(the_driver().binary_load(bytes, size, &options, &made.binary), "image_load");
  return modules_.add(std::move(made), device);
}

void Vendor::kernel_unload(int32_t device, void* module) {
  LoadedBinary gone = modules_.remove(module, device);
  check(the_driver().binary_unload(std::exchange(gone.binary, nullptr)), "image_unload");
}

void* Vendor::kernel_find(int32_t device, void* module, const char* name) {
  return modules_.find(module, device, name, [](const LoadedBinary& owner, const char* named) {
    auto made = std::make_shared<LoadedFunction>();
    // Releases report a missing name by different errors.
    if (const acl::Code failed = the_driver().binary_function(owner.binary, named, &made->handle))
      throw Error(DL_INVALID_ARGUMENT,
                  "the module has no kernel '" + std::string(named) +
                      "'; declare it extern \"C\" __global__ __aicore__ to keep its name "
                      "unmangled: " +
                      describe(failed));
    made->name = named;
    return made;
  });
}

dl_kernel_function_properties_t Vendor::kernel_function_properties(int32_t device, void* function) {
  (void)modules_.function(function, device);
  dl_kernel_function_properties_t all{};
  // The runtime reports nothing about a kernel's resources.
  all.registers = all.spill_bytes = all.local_bytes = all.shared_bytes = -1;
  all.constant_bytes = all.code_bytes = -1;
  all.max_block_threads = 1;
  return all;
}

void Vendor::kernel_launch(int32_t device, void* function, const dl_kernel_launch_t* given) {
  const auto found = modules_.function(function, device);
  const auto addresses = kit::launch_arguments(found->name, given, limits(), nullptr);
  acl::Driver& driver = the_driver();
  acl::Arguments arguments = nullptr;
  check(driver.arguments_begin(found->handle, &arguments), "launch");
  for (size_t i = 0; i < addresses.size(); ++i) {
    acl::Argument one = nullptr;
    check(driver.arguments_append(arguments, addresses[i], given->layout[i].size, &one), "launch");
  }
  check(driver.arguments_end(arguments), "launch");
  check(driver.launch(found->handle, given->grid[0], static_cast<Stream>(given->stream), nullptr,
                      arguments, nullptr),
        "launch");
}

}  // namespace dl::ascend
