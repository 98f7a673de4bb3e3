#include "aten/fallback/fallback_random.h"

#include <ATen/CPUGeneratorImpl.h>

#include "runtime/device.h"
#include "runtime/generator.h"

namespace dl::core {
namespace {

// SplitMix64's finalizer (Steele, Lea and Flood, 2014): similar (seed, offset) pairs give unrelated
// CPU seeds.
uint64_t mix(uint64_t seed, uint64_t offset) {
  uint64_t z = seed + (offset + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

uint64_t next_cpu_seed(const at::Generator& generator) {
  Generator* state = checked_generator(generator);
  const std::lock_guard<std::mutex> guard(state->mutex_);
  const uint64_t seed = mix(state->current_seed(), state->get_offset());
  state->set_offset(state->get_offset() + 1);
  return seed;
}

std::optional<at::Generator> copy_of_default() {
  at::Generator cpu = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> guard(cpu.mutex());
  return cpu.clone();
}

void restore_default(const at::Generator& saved) {
  at::Generator cpu = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> guard(cpu.mutex());
  cpu.set_state(saved.get_state());
}

}  // namespace

FallbackRandom::FallbackRandom(const OperatorInfo& info, torch::jit::Stack& stack, size_t begin,
                               int device) {
  if (C10_LIKELY(info.generator_index < 0 && !info.random)) return;
  if (info.generator_index >= 0) {
    c10::IValue& argument = stack[begin + info.generator_index];
    if (argument.isGenerator() && argument.toGenerator().device().is_cpu()) {
      TORCH_CHECK(false, "Expected a 'dl' device type for generator but found 'cpu'");
    }
    const at::Generator given =
        argument.isGenerator() ? argument.toGenerator() : default_generator(device);
    argument = at::detail::createCPUGenerator(next_cpu_seed(given));
    return;
  }
  const uint64_t seed = next_cpu_seed(default_generator(device));
  saved_default_ = copy_of_default();
  at::Generator cpu = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> guard(cpu.mutex());
  cpu.set_current_seed(seed);
}

FallbackRandom::~FallbackRandom() {
  if (C10_UNLIKELY(saved_default_.has_value())) restore_default(*saved_default_);
}

UnusedRandom::UnusedRandom(const OperatorInfo& info, torch::jit::Stack& stack, size_t begin) {
  if (info.generator_index >= 0) {
    stack[begin + info.generator_index] = at::detail::createCPUGenerator();
  } else if (info.random) {
    saved_default_ = copy_of_default();
  }
}

UnusedRandom::~UnusedRandom() {
  if (saved_default_) restore_default(*saved_default_);
}

}  // namespace dl::core
