#include "capi.h"

#include <cstring>
#include <exception>
#include <map>
#include <new>
#include <set>
#include <stdexcept>

#include "../driver/state.h"
#include "../ptx/lexer.h"
#include "../ptx/parser.h"
#include "../run/launch.h"

#define DL_API extern "C" __attribute__((visibility("default")))

using namespace sim;

struct dl_gpu_sim_module {
  DeviceMemory memory{0, uint64_t{1} << 34};
  std::shared_ptr<Module> parsed;
  std::unique_ptr<LoadedModule> loaded;
};

namespace {

std::string& text_of_thread() {
  thread_local std::string text;
  return text;
}
std::string& error_of_thread() {
  thread_local std::string text;
  return text;
}

constexpr const char* kTooLarge =
    "not enough host memory for the arrays, registers and blocks: use fewer or smaller ones";

/** Call a function; an exception becomes the thread's error. */
template <class F, class R>
R guarded(F call, R otherwise) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    error_of_thread() = kTooLarge;
    return otherwise;
  } catch (const std::length_error&) {
    error_of_thread() = kTooLarge;
    return otherwise;
  } catch (const std::exception& error) {
    error_of_thread() = error.what();
    return otherwise;
  }
}

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kDone:
      return "done";
    case Outcome::kIllegalAddress:
      return "illegal address";
    case Outcome::kMisaligned:
      return "misaligned address";
    case Outcome::kAssert:
      return "assert";
    case Outcome::kTrap:
      return "trap";
    case Outcome::kTimeout:
      return "timeout";
    case Outcome::kIllegalInstruction:
      return "illegal instruction";
    default:
      return "failed";
  }
}

std::string list(const std::vector<std::string>& all) {
  std::string made = "[";
  for (const std::string& each : all) made += (made.size() > 1 ? ", " : "") + each;
  return made + "]";
}

std::string description(dl_gpu_sim_module& module, const Routine& routine) {
  const auto image = module.loaded->image(std::string(routine.name));
  std::vector<std::string> parameters, unsupported;
  for (const auto& [offset, bytes] : image->kernel().parameters)
    parameters.push_back("[" + std::to_string(offset) + ", " + std::to_string(bytes) + "]");
  for (const std::string& each : image->unsupported) unsupported.push_back(quoted(each));
  std::map<std::string, int> opcodes;
  size_t instructions = 0;
  for (const auto& [index, code] : image->codes) {
    for (const Statement& each : code->routine->body) ++opcodes[std::string(each.opcode)];
    instructions += code->routine->body.size();
  }
  std::vector<std::string> counts;
  for (const auto& [opcode, count] : opcodes)
    counts.push_back(quoted(opcode) + ": " + std::to_string(count));
  std::string counted = list(counts);
  counted.front() = '{';
  counted.back() = '}';
  return "{\"name\": " + quoted(std::string(routine.name)) +
         ", \"registers\": " + std::to_string(routine.registers) +
         ", \"shared\": " + std::to_string(image->static_shared) +
         ", \"dynamic_shared\": " + (image->uses_dynamic ? "true" : "false") +
         ", \"local\": " + std::to_string(image->local_extent) +
         ", \"instructions\": " + std::to_string(instructions) +
         ", \"parameters\": " + list(parameters) +
         ", \"parameter_bytes\": " + std::to_string(image->kernel().param_bytes) +
         ", \"opcodes\": " + counted + ", \"unsupported\": " + list(unsupported) + "}";
}

}  // namespace

DL_API const char* dl_gpu_sim_error(void) { return error_of_thread().c_str(); }

DL_API dl_gpu_sim_module* dl_gpu_sim_open(const char* ptx) {
  return guarded(
      [&]() -> dl_gpu_sim_module* {
        auto made = std::make_unique<dl_gpu_sim_module>();
        made->parsed = parse(ptx);
        made->loaded = std::make_unique<LoadedModule>(made->parsed, made->memory);
        return made.release();
      },
      static_cast<dl_gpu_sim_module*>(nullptr));
}

DL_API const char* dl_gpu_sim_settings(const char* const* environment) {
  const Settings settings = Settings::read(environment);
  if (!settings.problems.empty()) {
    error_of_thread() = settings.problem();
    return nullptr;
  }
  text_of_thread() = "{\"seed\": " + std::to_string(settings.seed) +
                     ", \"steps\": " + std::to_string(settings.budget) + "}";
  return text_of_thread().c_str();
}

DL_API void dl_gpu_sim_close(dl_gpu_sim_module* module) { delete module; }

DL_API const char* dl_gpu_sim_describe(dl_gpu_sim_module* module) {
  return guarded(
      [&]() -> const char* {
        std::vector<std::string> kernels;
        for (const Routine& each : module->parsed->routines)
          if (each.entry && each.defined) kernels.push_back(description(*module, each));
        text_of_thread() = list(kernels);
        return text_of_thread().c_str();
      },
      static_cast<const char*>(nullptr));
}

DL_API unsigned long long dl_gpu_sim_put(dl_gpu_sim_module* module, const void* data, size_t size) {
  return guarded(
      [&]() -> unsigned long long {
        OwnedRegion& made = module->memory.allocate(size, 512, Region::What::kMemory);
        if (data != nullptr) {
          std::memcpy(made.bytes, data, size);
          std::memset(made.valid, 1, size);
        }
        return made.base;
      },
      0ull);
}

DL_API int dl_gpu_sim_take(dl_gpu_sim_module* module, unsigned long long address, void* data,
                           size_t size) {
  const Region* region = module->memory.find(address, size);
  if (region == nullptr) return 0;
  std::memcpy(data, region->bytes + (address - region->base), size);
  return 1;
}

DL_API unsigned long long dl_gpu_sim_calls(const char* name) { return Journal::get().calls(name); }

DL_API const char* dl_gpu_sim_waits() {
  text_of_thread() = Journal::get().waits();
  return text_of_thread().c_str();
}

DL_API int dl_gpu_sim_drop(dl_gpu_sim_module* module, unsigned long long address) {
  return module->memory.free(address);
}

DL_API unsigned long long dl_gpu_sim_variable(dl_gpu_sim_module* module, const char* name) {
  return module->loaded->address_of(name);
}

DL_API const char* dl_gpu_sim_launch(dl_gpu_sim_module* module, const char* kernel,
                                     const unsigned int* sizes, unsigned int dynamic_shared,
                                     int cooperative, unsigned long long seed,
                                     unsigned long long budget, const volatile int* stop,
                                     const void* params, size_t size) {
  return guarded(
      [&]() -> const char* {
        Config config;
        config.grid = {sizes[0], sizes[1], sizes[2]};
        config.block = {sizes[3], sizes[4], sizes[5]};
        config.dynamic_shared = dynamic_shared;
        config.cooperative = cooperative != 0;
        config.seed = seed;
        config.budget = budget;
        const auto* bytes = static_cast<const uint8_t*>(params);
        Findings findings;
        const auto image = module->loaded->image(kernel);
        if (uint64_t{image->static_shared} + dynamic_shared > kMostShared)
          throw std::invalid_argument("a block has at most " + std::to_string(kMostShared) +
                                      " bytes of shared memory; '" + kernel + "' has " +
                                      std::to_string(image->static_shared) + ", and " +
                                      std::to_string(dynamic_shared) + " are requested on top");
        Launch launch(image, module->memory, findings, config,
                      std::vector<uint8_t>(bytes, bytes + size));
        const Outcome outcome = launch.run([&] {
          if (*stop != 0) launch.fail(Outcome::kFailed, true);
        });
        std::vector<std::string> found;
        for (const Finding& each : findings.all()) found.push_back(json_of(each));
        text_of_thread() =
            std::string("{\"outcome\": ") + quoted(name_of(outcome)) +
            ", \"output\": " + quoted(launch.output()) +
            ", \"instructions\": " + std::to_string(launch.instructions) +
            ", \"same_value_writes\": " + std::to_string(findings.same_value_writes) +
            ", \"findings\": " + list(found) + "}";
        return text_of_thread().c_str();
      },
      static_cast<const char*>(nullptr));
}
