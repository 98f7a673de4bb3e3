#include "extensions/module.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "dl/kit/status.h"

namespace dl::cpu {
namespace {

constexpr std::string_view kMagic = "dl cpu kernel 1\n";
// After the trailer: its size in decimal digits, then the magic.
constexpr size_t kDigits = 12;

std::string architecture_line() { return DL_CPU_ISA "\n"; }

// Write to a sealed file in memory: once loaded, it cannot change.
Descriptor sealed(std::string_view bytes) {
  // Kernels that know the flag may not execute code without it; older kernels reject the flag.
  constexpr unsigned kExecutable = 0x10;
  Descriptor file(memfd_create("dl kernel", MFD_CLOEXEC | kExecutable));
  if (!file && errno == EINVAL) file = Descriptor(memfd_create("dl kernel", MFD_CLOEXEC));
  while (file && !bytes.empty()) {
    const ssize_t count = write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) break;
    if (count > 0) bytes.remove_prefix(static_cast<size_t>(count));
  }
  if (!file || !bytes.empty())
    throw kit::Error(DL_ERROR, std::string("no memory for code: ") + std::strerror(errno));
  return file;
}

bool is_identifier(const std::string& name) {
  constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return !name.empty() && name.size() <= 256 && !(name[0] >= '0' && name[0] <= '9') &&
         name.find_first_not_of(kLetters) == std::string::npos;
}

int64_t usage_of(const std::string& lines, const std::string& name) {
  const size_t at = ("\n" + lines).find("\n" + name + " ");
  return at == std::string::npos ? -1 : std::atoll(lines.c_str() + at + name.size() + 1);
}

}  // namespace

std::string packed_code(std::string library, const std::string& stack_usage) {
  const std::string trailer = architecture_line() + stack_usage;
  std::string digits = std::to_string(trailer.size());
  digits.insert(0, kDigits - digits.size(), '0');
  return library.append(trailer).append(digits).append(kMagic);
}

Module::Module(std::string_view bytes) {
  const auto refuse = [] {
    return kit::Error(DL_INVALID_ARGUMENT,
                      "these bytes are not code that this vendor has compiled");
  };
  const size_t end = kDigits + kMagic.size();
  if (bytes.size() < end || bytes.substr(bytes.size() - kMagic.size()) != kMagic) throw refuse();
  const std::string digits(bytes.substr(bytes.size() - end, kDigits));
  bytes.remove_suffix(end);
  const size_t size = digits.find_first_not_of("0123456789") == std::string::npos
                          ? std::strtoull(digits.c_str(), nullptr, 10)
                          : bytes.size() + 1;
  if (size > bytes.size()) throw refuse();
  stack_usage_ = bytes.substr(bytes.size() - size);
  bytes.remove_suffix(size);
  const size_t line = stack_usage_.find('\n');
  if (line == std::string::npos) throw refuse();
  const std::string architecture = stack_usage_.substr(0, line + 1);
  if (architecture != architecture_line()) {
    throw kit::Error(DL_INVALID_ARGUMENT,
                     "this code was compiled for " + architecture.substr(0, line) +
                         ", and this library is " + DL_CPU_ISA + "; compile it again");
  }
  stack_usage_.erase(0, line + 1);
  load(bytes);
}

void Module::load(std::string_view library) {
  file_ = sealed(library);
  path_ = "/proc/self/fd/" + std::to_string(file_.get());
  library_ = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr)
    throw kit::Error(DL_INVALID_ARGUMENT, std::string("the code cannot be loaded: ") + dlerror());
}

Module::~Module() {
  dlclose(library_);
  // A library that stays loaded because of thread-local variables keeps its descriptor open.
  if (void* still = dlopen(path_.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
    dlclose(still);
    file_.release();
  }
}

Function& Module::find(const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<Function>& known = functions_[name];
  if (known != nullptr) return *known;
  const auto* mark =
      is_identifier(name)
          ? static_cast<const uint32_t*>(dlsym(library_, (kCpuKernelMark + name).c_str()))
          : nullptr;
  void* code = mark == nullptr ? nullptr : dlsym(library_, name.c_str());
  if (code == nullptr) {
    functions_.erase(name);
    throw kit::Error(DL_INVALID_ARGUMENT,
                     "the code has no kernel '" + name + "'; define it with DL_CPU_KERNEL(name)");
  }
  if (*mark != kCpuKernelConvention)
    throw kit::Error(DL_INVALID_ARGUMENT, "kernel '" + name + "' was compiled for another release");
  Dl_info info{};
  const ElfW(Sym)* symbol = nullptr;
  void* entry = nullptr;
  int64_t bytes = -1;
  if (dladdr1(code, &info, &entry, RTLD_DL_SYMENT) != 0 && entry != nullptr) {
    symbol = static_cast<const ElfW(Sym)*>(entry);
    bytes = static_cast<int64_t>(symbol->st_size);
  }
  known = std::make_unique<Function>(
      Function{name, reinterpret_cast<CpuKernel>(code), usage_of(stack_usage_, name), bytes});
  return *known;
}

}  // namespace dl::cpu
