// Random numbers in a fallback: drawn by the CPU, decided by the dl generator.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include <mutex>
#include <optional>

#include "aten/fallback/operator_info.h"

namespace dl::core {

// For the duration of a CPU kernel: the generator argument becomes a CPU generator seeded from the
// dl generator's (seed, offset), whose offset advances by one. Random operators that take no
// generator draw from the CPU's default one: its state is replaced and restored.
class FallbackRandom {
 public:
  FallbackRandom(const OperatorInfo& info, torch::jit::Stack& stack, size_t begin, int device);
  ~FallbackRandom();
  FallbackRandom(const FallbackRandom&) = delete;
  FallbackRandom& operator=(const FallbackRandom&) = delete;

 private:
  std::optional<at::Generator> saved_default_;
};

// For the duration of a CPU kernel whose results nobody sees: it draws from a generator of no
// account, and no other one advances.
class UnusedRandom {
 public:
  UnusedRandom(const OperatorInfo& info, torch::jit::Stack& stack, size_t begin);
  ~UnusedRandom();
  UnusedRandom(const UnusedRandom&) = delete;
  UnusedRandom& operator=(const UnusedRandom&) = delete;

 private:
  std::optional<at::Generator> saved_default_;
};

}  // namespace dl::core
