// Kernel code and launches. Kernels of host code (emulated_image.h) run. Kernels of code objects
// are looked up as a real driver does, and their launches are checked but not run.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "fake_hip.h"

using namespace fake;

namespace {

// Finds the code object for an architecture in a clang offload bundle: a magic string, a count, and
// for each entry its offset, its size, the length of its name and the name, such as
// "hipv4-amdgcn-amd-amdhsa--gfx90a".
Code find_object(const char* bundle, const std::string& processor, std::string* out) {
  constexpr char kMagic[] = "__CLANG_OFFLOAD_BUNDLE__";
  constexpr size_t kMagicBytes = sizeof kMagic - 1;
  if (std::strncmp(bundle, kMagic, kMagicBytes) != 0) return kInvalidImage;
  uint64_t count = 0;
  std::memcpy(&count, bundle + kMagicBytes, sizeof count);
  const char* entry = bundle + kMagicBytes + sizeof count;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t place[3];
    std::memcpy(place, entry, sizeof place);
    const std::string name(entry + sizeof place, place[2]);
    if (name.size() > processor.size() + 2 &&
        name.compare(name.size() - processor.size() - 2, std::string::npos, "--" + processor) ==
            0) {
      out->assign(bundle + place[0], place[1]);
      return kSuccess;
    }
    entry += sizeof place + place[2];
  }
  return kNoBinaryForGpu;
}

// Opens a fake compiler's output from memory, as a driver does with code objects. The file stays
// open: the loader knows a library by its path, which the next one must not have.
Code open_compiled(const emulated::CompiledCode& code, const std::string& processor, void** out) {
  if (processor != code.processor) return kNoBinaryForGpu;
  const int file = memfd_create("fake code", MFD_CLOEXEC);
  const char* bytes = reinterpret_cast<const char*>(&code + 1);
  for (size_t done = 0; done < code.bytes;) {
    const ssize_t written = write(file, bytes + done, code.bytes - done);
    if (written <= 0) return kInvalidImage;
    done += static_cast<size_t>(written);
  }
  *out = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  return *out == nullptr ? kInvalidImage : kSuccess;
}

// Copies of all arguments of a launch, kept until it runs.
class Arguments {
 public:
  Arguments(const emulated::Image& image, void* const* given) {
    std::vector<size_t> places;
    size_t bytes = 0;
    for (unsigned i = 0; i < image.count; ++i) {
      places.push_back(bytes);
      bytes += (image.sizes[i] + kAlignment - 1) / kAlignment * kAlignment;
    }
    copy_.resize(bytes / kAlignment);
    for (unsigned i = 0; i < image.count; ++i) {
      auto* place = reinterpret_cast<char*>(copy_.data()) + places[i];
      std::memcpy(place, given[i], image.sizes[i]);
      pointers_.push_back(place);
    }
  }
  void* const* pointers() const { return pointers_.data(); }

 private:
  static constexpr size_t kAlignment = 64;
  struct alignas(kAlignment) Unit {
    char bytes[kAlignment];
  };
  std::vector<Unit> copy_;
  std::vector<void*> pointers_;
};

}  // namespace

FAKE Code hipModuleLoadData(Module* out, const void* data) {
  ENTER(hipModuleLoadData);
  const auto* text = static_cast<const char*>(data);
  auto module = std::make_unique<ModuleObject>(ModuleObject{current, nullptr, {}});
  Code failed = kSuccess;
  if (std::strncmp(text, emulated::kMagic, sizeof emulated::kMagic) == 0) {
    module->emulated = static_cast<const emulated::Image*>(data);
  } else if (std::strncmp(text, emulated::CompiledCode::kMagic, sizeof emulated::kMagic) == 0) {
    failed = open_compiled(*static_cast<const emulated::CompiledCode*>(data), processor(current),
                           &module->library);
  } else {
    failed = find_object(text, processor(current), &module->code);
  }
  if (failed != kSuccess) return failed;
  *out = module.release();
  return kSuccess;
}
// Waits, so that no launch loses its code.
FAKE Code hipModuleUnload(Module module) {
  ENTER_AND_WAIT(hipModuleUnload);
  if (module->device != current) return kInvalidHandle;
  wait_for_all();
  if (module->library != nullptr) dlclose(module->library);
  delete module;
  return kSuccess;
}
FAKE Code hipModuleGetFunction(Kernel* out, Module module, const char* name) {
  ENTER(hipModuleGetFunction);
  if (module->device != current) return kInvalidHandle;
  const emulated::Image* image = module->emulated;
  if (module->library != nullptr) {
    const std::string symbol = std::string(emulated::CompiledCode::kPrefix) + name;
    image = static_cast<const emulated::Image*>(dlsym(module->library, symbol.c_str()));
    if (image == nullptr) return kNotFound;
  }
  // Each kernel of a code object has a descriptor.
  const std::string descriptor = std::string(name) + ".kd";
  if (image == nullptr && module->code.find(descriptor) == std::string::npos) return kNotFound;
  // Kernels are never freed: a launch may still be pending.
  *out = new KernelObject{module->device, image, module->loaded};
  return kSuccess;
}
// Attributes as numbered by hipFunction_attribute; those that host code does not have are 0.
FAKE Code hipFuncGetAttribute(int* value, int attribute, Kernel kernel) {
  ENTER(hipFuncGetAttribute);
  if (kernel == nullptr || kernel->loaded.expired()) return kInvalidHandle;
  if (attribute < kFunctionBlockThreads || attribute > kFunctionRegisters) return kInvalidValue;
  *value = attribute == kFunctionBlockThreads ? kMostThreads : 0;
  return kSuccess;
}

#ifndef OLD
FAKE Code hipModuleLaunchKernel(Kernel kernel, unsigned x, unsigned y, unsigned z,
                                unsigned threads_x, unsigned threads_y, unsigned threads_z,
                                unsigned shared, Stream handle, void** arguments, void** extra) {
  ENTER(hipModuleLaunchKernel);
  StreamObject* stream = find(handle);
  if (stream == nullptr || kernel == nullptr || kernel->device != current) return kInvalidHandle;
  if (kernel->loaded.expired()) return kInvalidHandle;
  const uint64_t threads = uint64_t(threads_x) * threads_y * threads_z;
  if (extra != nullptr || threads == 0 || threads > kMostThreads) return kInvalidConfiguration;
  // HIP counts the threads of a grid in 32 bits.
  if (uint64_t(x) * y * z == 0 || uint64_t(x) * threads_x > UINT32_MAX || shared > kMostShared)
    return kInvalidConfiguration;
  const emulated::Image* image = kernel->emulated;
  if (image == nullptr) return kSuccess;
  if (image->threads != 0 && (y * z != 1 || threads != image->threads))
    return kInvalidConfiguration;
  auto kept = std::make_shared<Arguments>(*image, arguments);
  push(*stream, [=, lanes = wave(current)] {
    const emulated::Run run{
        x, lanes, kept->pointers(), {x, y, z}, {threads_x, threads_y, threads_z}, shared};
    image->run(image, &run);
  });
  return kSuccess;
}
#endif
