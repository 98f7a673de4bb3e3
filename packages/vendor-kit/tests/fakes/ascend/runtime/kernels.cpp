// Kernels of the fake compiler: loading their code, and launches. Each block runs on the thread of
// the stream, one after the other.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "compiled_kernel.h"
#include "fake_acl.h"

namespace dl::ascend::acl {

struct BinaryObject {
  int device;
  void* library;
};
struct FunctionObject {
  BinaryObject* binary;
  const fake_kernels::Kernel* kernel;
};
struct ArgumentsObject {
  FunctionObject* function;
  std::vector<std::vector<char>> values;
  bool complete = false;
};

}  // namespace dl::ascend::acl

using namespace fake;

namespace {

std::mutex& mutex() {
  static auto& one = *new std::mutex;
  return one;
}
// Functions by their binary; never destroyed, because streams may still run kernels.
std::map<Binary, std::vector<std::unique_ptr<FunctionObject>>>& binaries() {
  static auto& all = *new std::map<Binary, std::vector<std::unique_ptr<FunctionObject>>>;
  return all;
}
bool is_function(Function function) {
  for (const auto& [binary, functions] : binaries()) {
    for (const auto& known : functions) {
      if (known.get() == function) return binary->device == current;
    }
  }
  return false;
}
// Arguments that have not been launched yet.
thread_local std::map<Arguments, std::unique_ptr<ArgumentsObject>> pending;

// The file stays open: the loader knows a library by its path, which the next one must not have.
void* open_library(const char* code, size_t bytes) {
  const int file = memfd_create("fake kernel", MFD_CLOEXEC);
  if (file < 0 || write(file, code, bytes) != static_cast<ssize_t>(bytes)) return nullptr;
  return dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

FAKE Code aclrtGetDeviceInfo(uint32_t device, int attribute, int64_t* value) {
  ENTER(aclrtGetDeviceInfo);
  if (!is_device(static_cast<int>(device)) || attribute != kNpuArchitecture)
    return note(kInvalidParameter, "unknown device or attribute");
  *value = 2201;
  return kSuccess;
}

FAKE Code aclrtBinaryLoadFromData(const void* data, size_t bytes, const BinaryOptions* options,
                                  Binary* out) {
  ENTER_DEVICE(aclrtBinaryLoadFromData);
  if (options == nullptr || options->count != 1 || options->options->type != kMagicOption ||
      options->options->magic != kAicoreMagic)
    return note(kInvalidParameter, "the options do not state the kind of code");
  fake_kernels::Header header;
  if (bytes < sizeof header) return note(kInvalidParameter, "not code of this device");
  std::memcpy(&header, data, sizeof header);
  if (std::memcmp(header.magic, fake_kernels::Header::kMagic, sizeof header.magic) != 0 ||
      header.bytes != bytes - sizeof header)
    return note(kInvalidParameter, "not code of this device");
  void* const library = open_library(static_cast<const char*>(data) + sizeof header, header.bytes);
  if (library == nullptr) return note(kInvalidParameter, "the code cannot be loaded");
  const std::lock_guard<std::mutex> lock(mutex());
  *out = new BinaryObject{current, library};
  binaries()[*out];
  return kSuccess;
}
FAKE Code aclrtBinaryUnLoad(Binary binary) {
  ENTER_DEVICE(aclrtBinaryUnLoad);
  const std::lock_guard<std::mutex> lock(mutex());
  return binaries().erase(binary) != 0 ? Code(kSuccess) : note(kInvalidParameter, "not a binary");
}
FAKE Code aclrtBinaryGetFunction(Binary binary, const char* name, Function* out) {
  ENTER_DEVICE(aclrtBinaryGetFunction);
  const std::lock_guard<std::mutex> lock(mutex());
  const auto found = binaries().find(binary);
  if (found == binaries().end()) return note(kInvalidParameter, "not a binary");
  constexpr Code kLookup = 507027;
  const void* kernel = dlsym(binary->library, (fake_kernels::kPrefix + std::string(name)).c_str());
  if (kernel == nullptr) return note(kLookup, "no kernel has this name");
  auto made = std::make_unique<FunctionObject>();
  made->binary = binary;
  made->kernel = static_cast<const fake_kernels::Kernel*>(kernel);
  *out = made.get();
  found->second.push_back(std::move(made));
  return kSuccess;
}

FAKE Code aclrtKernelArgsInit(Function function, Arguments* out) {
  ENTER_DEVICE(aclrtKernelArgsInit);
  const std::lock_guard<std::mutex> lock(mutex());
  if (!is_function(function)) return note(kInvalidParameter, "not a kernel of this device");
  auto made = std::make_unique<ArgumentsObject>();
  made->function = function;
  *out = made.get();
  pending[*out] = std::move(made);
  return kSuccess;
}
FAKE Code aclrtKernelArgsAppend(Arguments arguments, void* value, size_t bytes, Argument* out) {
  ENTER_DEVICE(aclrtKernelArgsAppend);
  if (pending.count(arguments) == 0 || arguments->complete)
    return note(kInvalidParameter, "the arguments are complete");
  const char* const begin = static_cast<const char*>(value);
  arguments->values.emplace_back(begin, begin + bytes);
  *out = reinterpret_cast<Argument>(arguments->values.back().data());
  return kSuccess;
}
FAKE Code aclrtKernelArgsFinalize(Arguments arguments) {
  ENTER_DEVICE(aclrtKernelArgsFinalize);
  if (pending.count(arguments) == 0) return note(kInvalidParameter, "not arguments");
  arguments->complete = true;
  return kSuccess;
}
FAKE Code aclrtLaunchKernelWithConfig(Function function, uint32_t blocks, Stream handle,
                                      void* config, Arguments arguments, void* reserved) {
  ENTER_DEVICE(aclrtLaunchKernelWithConfig);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kWrongContext;
  const auto found = pending.find(arguments);
  if (found == pending.end() || !arguments->complete || arguments->function != function ||
      config != nullptr || reserved != nullptr || blocks == 0)
    return note(kInvalidParameter, "the launch is not complete");
  const std::shared_ptr<ArgumentsObject> owned = std::move(found->second);
  pending.erase(found);
  const fake_kernels::Kernel* const kernel = function->kernel;
  if (owned->values.size() != kernel->count)
    return note(kInvalidParameter, "the kernel has another number of parameters");
  for (size_t i = 0; i < kernel->count; ++i) {
    const fake_kernels::Parameter& parameter = kernel->parameters[i];
    std::vector<char>& value = owned->values[i];
    if (value.size() != parameter.size)
      return note(kInvalidParameter, "an argument has another size than its parameter");
    if (!parameter.is_address) continue;
    void* address;
    std::memcpy(&address, value.data(), sizeof address);
    address = here().memory.host_address(address, 0);
    if (address == nullptr)
      return note(kInvalidParameter, "an address is not memory of the current device");
    std::memcpy(value.data(), &address, sizeof address);
  }
  push(*stream, [owned, kernel, blocks] {
    std::vector<void*> addresses;
    for (std::vector<char>& value : owned->values) addresses.push_back(value.data());
    for (unsigned block = 0; block < blocks; ++block) kernel->run(addresses.data(), block, blocks);
    return 0;
  });
  return kSuccess;
}
