// A torch generator as operators see it.
#pragma once

#include <ATen/core/Generator.h>

#include <mutex>

#include "contract/handle.h"
#include "runtime/generator.h"

namespace dl::core {

// Holds the generator's lock for the call and stores the advanced offset when the call is over.
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

// Slots of the handle operations.
diopiError_t generator_get_state(diopiContextHandle_t context,
                                 diopiConstGeneratorHandle_t generator, diopiTensorHandle_t* state);
diopiError_t generator_set_state(diopiGeneratorHandle_t generator, diopiConstTensorHandle_t state);

}  // namespace dl::core
