// The kernel extension for a driver like CUDA's, with a compiler like NVRTC (runtime_compiler.h),
// as a mixin for Runtime. In addition to the members that Runtime needs, `Api` has
//
//   using Image, Kernel                               pointers: loaded code, and a function of it
//   static constexpr Result kNotFound                of image_function
//   RuntimeCompiler<Rtc>& compiler()
//   kernel_limits(int device, dl_kernel_properties_t*)   architecture and numeric fields
//   Rtc::Target code_target(int device)               the compiler's target
//   image_load(Image*, const void*, std::string* log), image_unload(Image)
//   image_function(Kernel*, Image, const char*)
//   function_attribute(int*, int attribute, Kernel)   numbered as CUfunction_attribute
//   allow_shared(Kernel, uint64_t bytes)              of a launch, beyond the default
//   parameter_sizes(Kernel, std::vector<size_t>*)     false: unknown to the driver
//   launch(Kernel, const uint32_t grid[3], const uint32_t block[3], uint64_t shared, Stream,
//   void**)
#ifndef DL_KIT_KERNEL_H_
#define DL_KIT_KERNEL_H_

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dl/kernel.h"
#include "dl/kit/base.h"
#include "dl/kit/extension.h"
#include "dl/kit/launch_check.h"
#include "dl/kit/modules.h"
#include "dl/kit/runtime_compiler.h"
#include "dl/kit/table.h"

DL_KIT_BEGIN

// Mixin for Runtime or Capturing that loads code and launches its kernels.
template <class Base>
class LaunchingKernels : public Base {
  using Api = std::decay_t<decltype(std::declval<Base>().api())>;

 public:
  dl_kernel_properties_t kernel_properties(int32_t device) {
    dl_kernel_properties_t all{};
    this->check(this->api().kernel_limits(device, &all), "kernel_limits");
    const auto& compiler = this->api().compiler();
    put(all.languages, compiler.language());
    put(all.compiler, compiler.found());
    put(all.unavailable, compiler.unavailable());
    return all;
  }

  dl_kernel_code_t* kernel_compile(int32_t device, const dl_kernel_source_t* source) {
    return this->api().compiler().compile(source, this->api().code_target(device));
  }

  void* kernel_load(int32_t device, const void* bytes, uint64_t size) {
    if (bytes == nullptr || size == 0)
      throw Error(DL_INVALID_ARGUMENT, "the code is NULL or empty");
    // The driver expects text to end with a NUL, which `size` does not count.
    const std::string code(static_cast<const char*>(bytes), size);
    std::string log;
    OwnedImage made(this->api());
    const auto result = this->api().image_load(&made.image, code.c_str(), &log);
    try {
      this->check(result, "image_load");
    } catch (const Error& error) {
      throw Error(error.code(), error.what(), error.operation(), log);
    }
    return modules_.add(std::move(made), device);
  }
  void kernel_unload(int32_t device, void* module) {
    OwnedImage gone = modules_.remove(module, device);
    this->check(this->api().image_unload(std::exchange(gone.image, nullptr)), "image_unload");
  }
  void* kernel_find(int32_t device, void* module, const char* name) {
    return modules_.find(module, device, name, [&](const OwnedImage& owner, const char* named) {
      return described(owner, device, named);
    });
  }
  dl_kernel_function_properties_t kernel_function_properties(int32_t device, void* function) {
    const auto found = modules_.function(function, device);
    dl_kernel_function_properties_t all{};
    const auto read = [&](int attribute) {
      int value = 0;
      this->check(this->api().function_attribute(&value, attribute, found->kernel),
                  "function_attribute");
      return static_cast<int64_t>(value);
    };
    all.max_block_threads = read(kBlockThreads);
    all.shared_bytes = read(kSharedBytes);
    all.constant_bytes = read(kConstantBytes);
    all.local_bytes = read(kLocalBytes);
    all.registers = read(kRegisters);
    // Spilled registers are part of local memory; drivers do not report them separately.
    all.spill_bytes = all.code_bytes = -1;
    return all;
  }
  void kernel_launch(int32_t device, void* function, const dl_kernel_launch_t* given) {
    const auto found = modules_.function(function, device);
    std::vector<void*> arguments = launch_arguments(found->name, given, found->limits,
                                                    found->counted ? &found->parameters : nullptr);
    if (given->shared_bytes > kSharedForAll)
      this->check(this->api().allow_shared(found->kernel, given->shared_bytes), "allow_shared");
    this->check(
        this->api().launch(found->kernel, given->grid, given->block, given->shared_bytes,
                           static_cast<typename Base::Stream>(given->stream), arguments.data()),
        "launch");
  }

 private:
  // Constants of CUfunction_attribute and hipFunction_attribute.
  enum { kBlockThreads, kSharedBytes, kConstantBytes, kLocalBytes, kRegisters };
  // Dynamic shared memory that a kernel may use without opting in.
  static constexpr uint64_t kSharedForAll = 48 << 10;

  struct Function {
    typename Api::Kernel kernel{};
    std::string name;
    dl_kernel_properties_t limits{};
    bool counted = false;
    std::vector<size_t> parameters;  // size of each in bytes
  };
  struct OwnedImage {
    explicit OwnedImage(Api& owner) : api(&owner) {}
    OwnedImage(OwnedImage&& other) noexcept
        : api(other.api), image(std::exchange(other.image, nullptr)) {}
    ~OwnedImage() {
      if (image != nullptr) (void)api->image_unload(image);
    }
    Api* api;
    typename Api::Image image{};
  };

  std::shared_ptr<Function> described(const OwnedImage& owner, int32_t device, const char* name) {
    auto made = std::make_shared<Function>();
    const auto found = this->api().image_function(&made->kernel, owner.image, name);
    if (found == Api::kNotFound)
      throw Error(DL_INVALID_ARGUMENT,
                  "the module has no kernel '" + std::string(name) +
                      "'; declare it extern \"C\" __global__ to keep its name unmangled");
    this->check(found, "image_function");
    made->name = name;
    made->counted = this->api().parameter_sizes(made->kernel, &made->parameters);
    this->check(this->api().kernel_limits(device, &made->limits), "kernel_limits");
    int threads = 0, shared = 0;
    this->check(this->api().function_attribute(&threads, kBlockThreads, made->kernel),
                "function_attribute");
    this->check(this->api().function_attribute(&shared, kSharedBytes, made->kernel),
                "function_attribute");
    made->limits.max_block_threads = static_cast<uint32_t>(threads);
    made->limits.max_shared_bytes -=
        std::min(made->limits.max_shared_bytes, static_cast<uint64_t>(shared));
    return made;
  }

  Modules<OwnedImage, Function> modules_;
};

// Returns the extension of a vendor that derives from LaunchingKernels, or has its public methods.
template <class V>
dl_extension_t* kernel_extension(dl_extension_t* next) {
  static dl_kernel_extension_t table{};
  table.struct_size = sizeof table;
  table.type = DL_EXT_KERNEL;
  table.next = next;
  // No device is made current, because that would initialize it, and `dl doctor` calls this.
  table.properties = [](dl_vendor_t* vendor, int32_t device, dl_kernel_properties_t* properties) {
    return slot<V>(vendor, [&](V& v) {
      detail::check_device(v, device);
      fill(properties, v.kernel_properties(device));
    });
  };
  table.compile = [](dl_vendor_t* vendor, int32_t device, const dl_kernel_source_t* source,
                     dl_kernel_code_t** code) {
    return slot<V>(vendor, [&](V& v) {
      detail::check_device(v, device);
      *code = v.kernel_compile(device, source);
    });
  };
  table.load = [](dl_vendor_t* vendor, int32_t device, const void* bytes, uint64_t size,
                  void** module) {
    return device_slot<V>(vendor, device,
                          [&](V& v) { *module = v.kernel_load(device, bytes, size); });
  };
  table.unload = [](dl_vendor_t* vendor, int32_t device, void* module) {
    return device_slot<V>(vendor, device, [&](V& v) { v.kernel_unload(device, module); });
  };
  table.find = [](dl_vendor_t* vendor, int32_t device, void* module, const char* name,
                  void** function) {
    return device_slot<V>(vendor, device,
                          [&](V& v) { *function = v.kernel_find(device, module, name); });
  };
  table.function_properties = [](dl_vendor_t* vendor, int32_t device, void* function,
                                 dl_kernel_function_properties_t* properties) {
    return device_slot<V>(vendor, device, [&](V& v) {
      fill(properties, v.kernel_function_properties(device, function));
    });
  };
  table.launch = [](dl_vendor_t* vendor, int32_t device, void* function,
                    const dl_kernel_launch_t* given) {
    return device_slot<V>(vendor, device, [&](V& v) { v.kernel_launch(device, function, given); });
  };
  return reinterpret_cast<dl_extension_t*>(&table);
}

DL_KIT_END

#endif  // DL_KIT_KERNEL_H_
