// View of a torch generator for operators.
#pragma once

#include <ATen/core/Generator.h>

#include <mutex>

#include "contract/handle.h"
#include "runtime/generator.h"

namespace dl::core {

// Holds the generator's lock during the call and stores the advanced offset afterwards.
class GeneratorHandle {
 public:
  GeneratorHandle(const std::optional<at::Generator>& generator, int device);
  ~GeneratorHandle();
  GeneratorHandle(const GeneratorHandle&) = delete;
  GeneratorHandle& operator=(const GeneratorHandle&) = delete;

  diopiGeneratorHandle_t get() { return reinterpret_cast<diopiGeneratorHandle_t>(&prefix_); }

 private:
  dl_generator_prefix_t prefix_;
  Generator* generator_;
  std::unique_lock<std::mutex> lock_;
};

// Functions of the handle table.
diopiError_t generator_get_state(diopiContextHandle_t context,
                                 diopiConstGeneratorHandle_t generator, diopiTensorHandle_t* state);
diopiError_t generator_set_state(diopiGeneratorHandle_t generator, diopiConstTensorHandle_t state);

}  // namespace dl::core
