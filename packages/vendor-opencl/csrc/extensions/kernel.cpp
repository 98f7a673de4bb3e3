// The kernel extension: kernels from OpenCL C, compiled by the device's driver.
//
// A launch's shared memory becomes the kernel's last parameter, which must be a pointer to local
// memory; the layout of the launch does not contain it.
#include "dl/kernel.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "dl/kit/kernel.h"
#include "dl/kit/kernel_source.h"
#include "dl/kit/launch_check.h"
#include "dl/kit/lru.h"
#include "extensions/choices.h"
#include "program/kernel.h"
#include "runtime/vendor.h"

namespace dl::opencl {

struct LoadedFunction {
  std::unique_ptr<Kernel> kernel;
  dl_kernel_properties_t limits{};
  uint32_t parameters = 0;
};

namespace {

constexpr const char* kLanguage = "opencl";

// A program's binary with the compiler's log, as dl_kernel_code_t.
struct Compiled {
  std::string binary, log;
};
struct OwnedCode : dl_kernel_code_t {
  std::shared_ptr<const Compiled> compiled;
};

kit::Lru<std::string, Compiled>& compiled_programs() {
  constexpr size_t kMostKept = 256;
  static auto& programs = *new kit::Lru<std::string, Compiled>(kMostKept);
  return programs;
}

// Returns true if an option only affects the generated code. Paths are not read: headers come with
// the source.
bool allows(const std::string& option) {
  if (option.rfind("-cl-", 0) == 0) return option.find('/') == std::string::npos;
  for (const char* start : {"-D", "-U"}) {
    if (option.rfind(start, 0) == 0 && option.size() > 2) return true;
  }
  return option == "-w" || option == "-Werror";
}

// Joins options to the string that OpenCL takes. Throws for characters that drivers read in
// different ways.
std::string joined(const std::vector<std::string>& options) {
  std::string all;
  for (const std::string& option : options) {
    if (!allows(option))
      throw kit::Error(DL_INVALID_ARGUMENT,
                       "option '" + option +
                           "' does more than affect the generated code; use -D, -U, -w, -Werror or "
                           "-cl-...");
    if (option.find_first_of(" \t\n\"'\\") != std::string::npos)
      throw kit::Error(DL_INVALID_ARGUMENT,
                       "option '" + option +
                           "' contains a space, a quote or a backslash, which drivers do not "
                           "accept; write the value into the source");
    all += (all.empty() ? "" : " ") + option;
  }
  return all;
}

Compiled compile(Device& device, const kit::KernelSource& source) {
  ProgramReference program =
      build_source(device, source.name, source.text, joined(source.options), source.headers);
  return {binary_of(device, program), log_of(device, program)};
}

}  // namespace

Vendor::Vendor() { install_choices(); }
Vendor::~Vendor() = default;

dl_kernel_properties_t Vendor::kernel_properties(int32_t device) {
  const DeviceFacts& facts = Devices::here().at(device).facts();
  dl_kernel_properties_t all{};
  kit::put(all.languages, kLanguage);
  kit::put(all.architecture, facts.name);
  kit::put(all.compiler, facts.platform + ", driver " + facts.driver_version);
  for (int d = 0; d < 3; ++d) {
    all.max_grid[d] = INT32_MAX;
    all.max_block[d] = facts.group_sizes[d];
  }
  all.max_block_threads = facts.group_threads;
  all.warp_size = facts.sub_groups ? DL_OPENCL_WARP_THREADS : 1;
  all.max_shared_bytes = facts.local_memory;
  all.max_argument_bytes = facts.parameter_bytes;
  return all;
}

dl_kernel_code_t* Vendor::kernel_compile(int32_t device, const dl_kernel_source_t* given) {
  const kit::KernelSource source(given, kLanguage);
  Device& on = Devices::here().at(device);
  bool cached = true;
  auto code = std::make_unique<OwnedCode>();
  code->compiled = compiled_programs().get(on.identity() + "\n" + source.key(), [&] {
    cached = false;
    return compile(on, source);
  });
  code->struct_size = sizeof(dl_kernel_code_t);
  code->bytes = code->compiled->binary.data();
  code->size = code->compiled->binary.size();
  code->log = code->compiled->log.empty() ? nullptr : code->compiled->log.c_str();
  code->flags = cached ? DL_KERNEL_CODE_CACHED : 0;
  code->release = [](dl_kernel_code_t* self) { delete static_cast<OwnedCode*>(self); };
  return code.release();
}

void* Vendor::kernel_load(int32_t device, const void* bytes, uint64_t size) {
  if (bytes == nullptr || size == 0)
    throw kit::Error(DL_INVALID_ARGUMENT, "the code is NULL or empty");
  const std::string binary(static_cast<const char*>(bytes), size);
  return modules_.add(build_binary(Devices::here().at(device), binary), device);
}

void Vendor::kernel_unload(int32_t device, void* module) { (void)modules_.remove(module, device); }

void* Vendor::kernel_find(int32_t device, void* module, const char* name) {
  return modules_.find(module, device, name, [&](ProgramReference& owner, const char* named) {
    auto made = std::make_shared<LoadedFunction>();
    made->kernel = Kernel::find(Devices::here().at(device), owner, named);
    if (made->kernel == nullptr)
      throw kit::Error(DL_INVALID_ARGUMENT, "the module has no kernel '" + std::string(named) +
                                                "'; declare it with __kernel");
    made->parameters = made->kernel->argument_count();
    made->limits = kernel_properties(device);
    made->limits.max_block_threads =
        static_cast<uint32_t>(made->kernel->property(cl::kKernelWorkGroupSize));
    made->limits.max_shared_bytes -=
        std::min(made->limits.max_shared_bytes, made->kernel->property(cl::kKernelLocalMemory));
    return made;
  });
}

dl_kernel_function_properties_t Vendor::kernel_function_properties(int32_t device, void* function) {
  const auto found = modules_.function(function, device);
  dl_kernel_function_properties_t all{};
  all.registers = all.spill_bytes = all.constant_bytes = all.code_bytes = -1;
  all.local_bytes = static_cast<int64_t>(found->kernel->property(cl::kKernelPrivateMemory));
  all.shared_bytes = static_cast<int64_t>(found->kernel->property(cl::kKernelLocalMemory));
  all.max_block_threads = found->limits.max_block_threads;
  return all;
}

void Vendor::kernel_launch(int32_t device, void* function, const dl_kernel_launch_t* given) {
  const auto found = modules_.function(function, device);
  const std::string& name = found->kernel->name();
  const std::vector<void*> values = kit::launch_arguments(name, given, found->limits, nullptr);
  const bool has_shared = given->shared_bytes > 0;
  if (values.size() + has_shared != found->parameters)
    throw kit::Error(DL_INVALID_ARGUMENT,
                     "kernel '" + name + "': " + std::to_string(values.size()) + " arguments" +
                         (has_shared ? " and shared memory" : "") + " for the kernel's " +
                         std::to_string(found->parameters) +
                         " parameters; a launch with shared memory needs a last parameter that is "
                         "a pointer to local memory");
  std::vector<KernelArgument> all;
  for (size_t i = 0; i < values.size(); ++i) {
    const dl_kernel_argument_t& one = given->layout[i];
    all.push_back({one.kind == DL_KERNEL_MEMORY ? KernelArgument::kMemory : KernelArgument::kValue,
                   one.size, values[i]});
  }
  if (has_shared)
    all.push_back({KernelArgument::kLocal, static_cast<size_t>(given->shared_bytes), nullptr});
  size_t global[3], local[3];
  for (int d = 0; d < 3; ++d) {
    local[d] = given->block[d];
    global[d] = size_t{given->grid[d]} * given->block[d];
  }
  found->kernel->launch(Queue::of(given->stream), 3, global, local, all.data(),
                        static_cast<uint32_t>(all.size()));
}

dl_extension_t* Vendor::extensions() {
  return kit::kernel_extension<Vendor>(kit::choices_extension<Vendor, Choices>(nullptr));
}

}  // namespace dl::opencl
