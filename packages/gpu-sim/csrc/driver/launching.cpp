#include "launching.h"

#include <unistd.h>

#include <cstring>

#include "../run/launch.h"

namespace sim {
namespace {

constexpr uint32_t kMostThreads = 1024;

CUresult result_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kDone:
      return CUDA_SUCCESS;
    case Outcome::kIllegalAddress:
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    case Outcome::kMisaligned:
      return CUDA_ERROR_MISALIGNED_ADDRESS;
    case Outcome::kAssert:
      return CUDA_ERROR_ASSERT;
    case Outcome::kTimeout:
      return CUDA_ERROR_LAUNCH_TIMEOUT;
    case Outcome::kIllegalInstruction:
      return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    default:
      return CUDA_ERROR_LAUNCH_FAILED;
  }
}

/** Write a kernel's output to the program's stdout. */
void print(const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (written <= 0) return;
    done += static_cast<size_t>(written);
  }
}

void run(CUcontext context, const std::shared_ptr<Image>& image, const Config& config,
         const std::vector<uint8_t>& params) {
  if (context->failed != CUDA_SUCCESS) return;
  Device& device = Driver::get().device(context->device);
  Findings findings;
  std::unique_lock<std::mutex> lock(device.running);
  Launch launch(image, device.memory, findings, config, params);
  const Outcome outcome = launch.run([&lock] {
    // Other streams must be able to run, because the kernel may wait for them.
    lock.unlock();
    lock.lock();
  });
  lock.unlock();
  print(launch.output());
  Journal::get().add(std::string(image->kernel().routine->name), findings, launch.instructions);
  if (outcome != Outcome::kDone) {
    context->failed = result_of(outcome);
  } else if (Settings::get().strict && !findings.empty()) {
    context->failed = CUDA_ERROR_LAUNCH_FAILED;
  }
}

CUresult pack(const Code& kernel, void** params, void** extra, std::vector<uint8_t>& packed) {
  packed.resize(kernel.param_bytes);
  if (extra != nullptr) {
    const void* buffer = nullptr;
    size_t size = 0;
    for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
      if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[i + 1];
      if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) size = *static_cast<size_t*>(extra[i + 1]);
    }
    if (buffer == nullptr || size < packed.size()) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(packed.data(), buffer, packed.size());
    return CUDA_SUCCESS;
  }
  if (params == nullptr) return kernel.parameters.empty() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (params[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(packed.data() + kernel.parameters[i].first, params[i], kernel.parameters[i].second);
  }
  return CUDA_SUCCESS;
}

CUresult check(const Image& image, const Callable& callable, const Config& config) {
  const Routine& routine = *image.kernel().routine;
  const uint64_t threads = uint64_t{config.block[0]} * config.block[1] * config.block[2];
  for (const uint32_t size : config.grid)
    if (size == 0) return CUDA_ERROR_INVALID_VALUE;
  if (config.grid[0] > INT32_MAX || config.grid[1] > 65535 || config.grid[2] > 65535)
    return CUDA_ERROR_INVALID_VALUE;
  if (threads == 0 || threads > kMostThreads || config.block[2] > 64)
    return CUDA_ERROR_INVALID_VALUE;
  const auto volume = [](const Size3& sizes) { return uint64_t{sizes[0]} * sizes[1] * sizes[2]; };
  if (routine.required_threads[0] != 0 && routine.required_threads != config.block)
    return CUDA_ERROR_INVALID_VALUE;
  if (routine.most_threads[0] != 0 && threads > volume(routine.most_threads))
    return CUDA_ERROR_INVALID_VALUE;
  if (config.dynamic_shared > callable.most_dynamic ||
      uint64_t{config.dynamic_shared} + image.static_shared > kMostShared)
    return CUDA_ERROR_INVALID_VALUE;
  if (config.cooperative && volume(config.grid) * threads > 4 * 2048)
    return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult image_of(const Callable* callable, std::shared_ptr<Image>& image) {
  {
    Driver& driver = Driver::get();
    const std::lock_guard<std::mutex> lock(driver.mutex);
    if (driver.callables.count(callable) == 0) return CUDA_ERROR_INVALID_HANDLE;
  }
  LoadedModule* module = callable->module;
  if (callable->what == Callable::What::kKernel) {
    CUfunction function = nullptr;
    if (const CUresult failed = function_of_kernel(&function, callable)) return failed;
    module = function->module;
  }
  try {
    image = module->image(callable->name);
  } catch (const std::exception& error) {
    Journal::get().say(error.what());
    return CUDA_ERROR_INVALID_PTX;
  }
  return CUDA_SUCCESS;
}

CUresult launch(const Callable* callable, const CUlaunchConfig& given, void** params,
                void** extra) {
  CUstream stream = stream_of(given.hStream);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->context->failed != CUDA_SUCCESS) return stream->context->failed;
  std::shared_ptr<Image> image;
  if (const CUresult failed = image_of(callable, image)) return failed;
  Config config;
  config.grid = {given.gridDimX, given.gridDimY, given.gridDimZ};
  config.block = {given.blockDimX, given.blockDimY, given.blockDimZ};
  config.dynamic_shared = given.sharedMemBytes;
  for (unsigned i = 0; i < given.numAttrs; ++i)
    if (given.attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      config.cooperative = given.attrs[i].value.cooperative != 0;
  config.seed = Settings::get().seed + Driver::get().launches++;
  config.budget = Settings::get().budget;
  if (const CUresult failed = check(*image, *callable, config)) return failed;
  std::vector<uint8_t> packed;
  if (const CUresult failed = pack(image->kernel(), params, extra, packed)) return failed;
  CUcontext context = stream->context;
  return enqueue(stream, [context, image, config, packed] { run(context, image, config, packed); });
}

}  // namespace sim
