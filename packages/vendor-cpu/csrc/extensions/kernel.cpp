// The kernel extension of the CPU: C++ compiled by the host's compiler, blocks run on the host's
// threads.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "dl/kit/status.h"
#include "extensions/cache.h"
#include "extensions/compiler.h"
#include "extensions/extensions.h"
#include "extensions/module.h"
#include "extensions/sha256.h"
#include "runtime/vendor.h"

namespace dl::cpu {
namespace {

constexpr uint64_t kMostShared = uint64_t{64} << 20;
constexpr uint64_t kMostArguments = 256;

// Copy as much as fits into the caller's struct.
template <class T>
void fill(T* to, T from) {
  if (!DL_HAS_FIELD(to, T, struct_size))
    throw kit::Error(DL_INVALID_ARGUMENT,
                     "the properties' struct is NULL or too short; set its struct_size");
  const uint64_t size = to->struct_size;
  from.struct_size = size;
  std::memcpy(static_cast<void*>(to), &from, std::min<uint64_t>(size, sizeof from));
}

template <size_t kSize>
void put(char (&to)[kSize], const std::string& text) {
  std::snprintf(to, kSize, "%s", text.c_str());
}

void warn(dl_vendor_t* vendor, const std::string& message) {
  const dl_host_t* host = kit::self<Vendor>(vendor).host;
  if (DL_HAS_FIELD(host, dl_host_t, log) && host->log != nullptr)
    host->log(host, DL_LOG_WARNING, message.c_str());
}

// The reason why the cache cannot be used is reported once per process.
KernelCache cache_of(dl_vendor_t* vendor) {
  static std::atomic<bool> reported{false};
  return KernelCache([vendor](const std::string& message) {
    if (!reported.exchange(true)) warn(vendor, message);
  });
}

dl_status_t* properties(dl_vendor_t* vendor, int32_t device,
                        dl_kernel_properties_t* properties) noexcept {
  return kit::device_slot<Vendor>(vendor, device, [&](Vendor&) {
    dl_kernel_properties_t all{};
    const Compiler compiler = find_compiler();
    put(all.languages, "c++");
    put(all.architecture, DL_CPU_ISA);
    put(all.compiler, compiler.path);
    put(all.unavailable, compiler.unavailable);
    for (uint32_t& most : all.max_grid) most = UINT32_MAX;
    for (uint32_t& most : all.max_block) most = UINT32_MAX;
    all.max_block_threads = UINT32_MAX;
    all.warp_size = 1;
    all.max_shared_bytes = kMostShared;
    fill(properties, all);
  });
}

struct Code : dl_kernel_code_t {
  std::string bytes_text, log_text;
};

dl_kernel_code_t* code_of(CachedKernel kernel, bool cached) {
  auto code = std::make_unique<Code>();
  code->bytes_text = std::move(kernel.code);
  code->log_text = std::move(kernel.log);
  code->struct_size = sizeof(dl_kernel_code_t);
  code->bytes = code->bytes_text.data();
  code->size = code->bytes_text.size();
  code->log = code->log_text.empty() ? nullptr : code->log_text.c_str();
  code->flags = cached ? DL_KERNEL_CODE_CACHED : 0;
  code->release = [](dl_kernel_code_t* self) { delete static_cast<Code*>(self); };
  return code.release();
}

std::string key_of(const Compiler& compiler, const Source& source) {
  Sha256 sum;
  sum.add_text(compilation_identity(compiler));
  sum.add_text(source.name);
  sum.add_text(source.text);
  sum.add_text(std::to_string(source.options.size()));
  for (const std::string& option : source.options) sum.add_text(option);
  for (const auto& [name, text] : source.headers) {
    sum.add_text(name);
    sum.add_text(text);
  }
  return hexadecimal(sum.finish());
}

// Return the folders to compile in, in order of preference. The cache is the last: if it is
// read-only or full, kernels are compiled elsewhere.
std::vector<std::string> work_folders(const KernelCache& cache) {
  std::vector<std::string> found;
  const char* chosen = std::getenv("TMPDIR");
  for (const std::string& folder :
       {std::string(chosen == nullptr ? "" : chosen), std::string("/tmp"), cache.folder()}) {
    if (!folder.empty() && trusted(folder) &&
        std::find(found.begin(), found.end(), folder) == found.end())
      found.push_back(folder);
  }
  if (found.empty())
    throw kit::Error(DL_UNAVAILABLE,
                     "others can write to all temporary folders; set TMPDIR to a private one");
  return found;
}

dl_status_t* compile(dl_vendor_t* vendor, int32_t device, const dl_kernel_source_t* given,
                     dl_kernel_code_t** code) noexcept {
  return kit::device_slot<Vendor>(vendor, device, [&](Vendor&) {
    const Source source(given);
    const Compiler compiler = find_compiler();
    if (compiler.path.empty()) throw kit::Error(DL_UNAVAILABLE, compiler.unavailable);
    const KernelCache cache = cache_of(vendor);
    const std::string key = key_of(compiler, source);
    const auto refused = [&](const std::string& message) { warn(vendor, message); };
    if (auto kernel = cache.find(key, refused)) {
      *code = code_of(std::move(*kernel), true);
      return;
    }
    const Descriptor lock = cache.lock(key, refused);
    // Another process may have compiled it while this one waited.
    if (lock) {
      if (auto kernel = cache.find(key, [](const std::string&) {})) {
        *code = code_of(std::move(*kernel), true);
        return;
      }
    }
    Compiled compiled = dl::cpu::compile(compiler, source, work_folders(cache));
    CachedKernel kernel{packed_code(std::move(compiled.library), compiled.stack_usage),
                        std::move(compiled.log)};
    cache.store(key, kernel, compiled.dependencies);
    *code = code_of(std::move(kernel), false);
  });
}

dl_status_t* load(dl_vendor_t* vendor, int32_t device, const void* bytes, uint64_t size,
                  void** module) noexcept {
  return kit::device_slot<Vendor>(vendor, device, [&](Vendor&) {
    if (bytes == nullptr) throw kit::Error(DL_INVALID_ARGUMENT, "the code is NULL");
    *module = new Module({static_cast<const char*>(bytes), size});
  });
}

dl_status_t* unload(dl_vendor_t* vendor, int32_t device, void* module) noexcept {
  return kit::device_slot<Vendor>(vendor, device,
                                  [&](Vendor&) { delete static_cast<Module*>(module); });
}

dl_status_t* find(dl_vendor_t* vendor, int32_t device, void* module, const char* name,
                  void** function) noexcept {
  return kit::device_slot<Vendor>(vendor, device, [&](Vendor&) {
    if (module == nullptr || name == nullptr)
      throw kit::Error(DL_INVALID_ARGUMENT, "the module or the name is NULL");
    *function = &static_cast<Module*>(module)->find(name);
  });
}

const Function& function_at(void* function) {
  if (function == nullptr)
    throw kit::Error(DL_INVALID_ARGUMENT, "the function is NULL; pass what find returned");
  return *static_cast<const Function*>(function);
}

dl_status_t* function_properties(dl_vendor_t* vendor, int32_t device, void* function,
                                 dl_kernel_function_properties_t* properties) noexcept {
  return kit::device_slot<Vendor>(vendor, device, [&](Vendor&) {
    const Function& found = function_at(function);
    dl_kernel_function_properties_t all{};
    // Compilers do not report the registers of a function, or how many of them are spilled.
    all.registers = all.spill_bytes = all.constant_bytes = -1;
    all.local_bytes = found.stack_bytes;
    all.max_block_threads = UINT32_MAX;
    all.code_bytes = found.code_bytes;
    fill(properties, all);
  });
}

// One launch, shared by the threads that run parts of it.
class Launch {
 public:
  Launch(const Function& function, const dl_kernel_launch_t* given) : function_(function) {
    if (!DL_HAS_FIELD(given, dl_kernel_launch_t, argument_count))
      throw kit::Error(DL_INVALID_ARGUMENT, "the launch's struct is too short");
    if (DL_HAS_FIELD(given, dl_kernel_launch_t, flags) && given->flags != 0)
      throw kit::Error(DL_INVALID_ARGUMENT, "the flags of a launch must be 0");
    uint64_t threads = 1;
    for (int d = 0; d < 3; ++d) {
      block_.grid[d] = given->grid[d];
      block_.block[d] = given->block[d];
      if (given->grid[d] == 0 || given->block[d] == 0 ||
          __builtin_mul_overflow(blocks_, int64_t{given->grid[d]}, &blocks_) ||
          __builtin_mul_overflow(threads, uint64_t{given->block[d]}, &threads) ||
          threads > UINT32_MAX)
        throw kit::Error(DL_INVALID_ARGUMENT, "grid " + triple(given->grid) + " or block " +
                                                  triple(given->block) +
                                                  " is empty or too large for this device");
    }
    if (given->shared_bytes > kMostShared)
      throw kit::Error(DL_INVALID_ARGUMENT, std::to_string(given->shared_bytes) +
                                                " shared bytes are more than the device's " +
                                                std::to_string(kMostShared));
    block_.shared_bytes = given->shared_bytes;
    block_.argument_count = given->argument_count;
    if (given->argument_count > kMostArguments)
      throw kit::Error(DL_INVALID_ARGUMENT,
                       std::to_string(given->argument_count) + " arguments are more than the " +
                           std::to_string(kMostArguments) + " that a launch may have");
    if (given->argument_count > 0 && (given->layout == nullptr || given->arguments == nullptr))
      throw kit::Error(DL_INVALID_ARGUMENT, std::to_string(given->argument_count) +
                                                " arguments, but their address or layout is NULL");
    for (uint64_t i = 0; i < given->argument_count; ++i) {
      const dl_kernel_argument_t& argument = given->layout[i];
      if (argument.kind > DL_KERNEL_MEMORY || argument.offset > given->argument_bytes ||
          argument.size > given->argument_bytes - argument.offset ||
          (argument.kind == DL_KERNEL_MEMORY && argument.size != sizeof(void*)))
        throw kit::Error(DL_INVALID_ARGUMENT,
                         "argument " + std::to_string(i) +
                             " is not within the packed arguments, or is of an "
                             "unknown kind");
      arguments_[i] = static_cast<const char*>(given->arguments) + argument.offset;
    }
  }

  void run(const dl_host_t* host) {
    const auto body = [](void* self, int64_t begin, int64_t end) {
      static_cast<Launch*>(self)->run_blocks(begin, end);
    };
    const bool threads =
        DL_HAS_FIELD(host, dl_host_t, parallel_for) && host->parallel_for != nullptr;
    if (blocks_ == 1 || !threads || host->parallel_for(host, 0, blocks_, 1, body, this) != DL_OK)
      body(this, 0, blocks_);
    if (!failure_.empty())
      throw kit::Error(DL_ERROR, "kernel '" + function_.name + "' " + failure_);
  }

 private:
  static std::string triple(const uint32_t (&of)[3]) {
    return std::to_string(of[0]) + "x" + std::to_string(of[1]) + "x" + std::to_string(of[2]);
  }

  void run_blocks(int64_t begin, int64_t end) noexcept {
    CpuBlock block = block_;
    const std::unique_ptr<void, void (*)(void*)> shared(
        block.shared_bytes == 0 ? nullptr
                                : std::aligned_alloc(64, (block.shared_bytes + 63) / 64 * 64),
        std::free);
    block.shared = shared.get();
    if (block.shared_bytes != 0 && block.shared == nullptr)
      return fail("could not allocate its shared memory", "");
    try {
      for (int64_t i = begin; i < end; ++i) {
        block.index[0] = static_cast<uint32_t>(i % block.grid[0]);
        block.index[1] = static_cast<uint32_t>(i / block.grid[0] % block.grid[1]);
        block.index[2] = static_cast<uint32_t>(i / block.grid[0] / block.grid[1]);
        function_.code(&block, arguments_);
      }
    } catch (const std::exception& error) {
      fail("threw: ", error.what());
    } catch (...) {
      fail("threw an exception that is not a std::exception", "");
    }
  }

  // Record the first failure: a predicate whose subject is the kernel.
  void fail(const char* predicate, const char* message) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    try {
      if (failure_.empty()) failure_ = std::string(predicate) + message;
    } catch (...) {
      failure_ = "failed";
    }
  }

  const Function& function_;
  CpuBlock block_{};
  int64_t blocks_ = 1;
  const void* arguments_[kMostArguments + 1] = {};  // null-terminated
  std::mutex mutex_;
  std::string failure_;
};

dl_status_t* launch(dl_vendor_t* vendor, int32_t device, void* function,
                    const dl_kernel_launch_t* given) noexcept {
  return kit::device_slot<Vendor>(vendor, device, [&](Vendor&) {
    Launch(function_at(function), given).run(kit::self<Vendor>(vendor).host);
  });
}

}  // namespace

dl_kernel_extension_t kernel_extension = {
    sizeof(dl_kernel_extension_t),
    DL_EXT_KERNEL,
    reinterpret_cast<dl_extension_t*>(&constants_extension),
    properties,
    compile,
    load,
    unload,
    find,
    function_properties,
    launch,
};

}  // namespace dl::cpu
