#include <cstring>
#include <mutex>
#include <vector>

#include "library/constants.h"
#include "library/onednn.h"

namespace dl::cpu::onednn {
namespace {

// oneDNN's reference code is far slower than the kernels of this library.
bool is_reference(const PrimitiveDesc* description) {
  const char* name = nullptr;
  const Api& api = runtime()->api;
  return api.primitive_desc_query(description, kImplementation, 0, &name) != kSuccess ||
         std::strncmp(name, "ref", 3) == 0;
}

MemoryOwner make_memory(const MemoryDesc* description) {
  Memory* created = nullptr;
  // The address is set for each call; null does not allocate, unlike DNNL_MEMORY_ALLOCATE.
  if (runtime()->api.memory_create(&created, description, runtime()->engine, nullptr) != kSuccess)
    return nullptr;
  return MemoryOwner(created);
}

PrimitiveOwner make_primitive(const PrimitiveDesc* description) {
  Primitive* created = nullptr;
  if (runtime()->api.primitive_create(&created, description) != kSuccess) return nullptr;
  return PrimitiveOwner(created);
}

PrimitiveOwner make_reorder(const MemoryDesc* from, const MemoryDesc* to) {
  const Runtime& onednn = *runtime();
  PrimitiveDesc* created = nullptr;
  if (onednn.api.reorder_primitive_desc_create(&created, from, onednn.engine, to, onednn.engine,
                                               nullptr) != kSuccess)
    return nullptr;
  const PrimitiveDescOwner description(created);
  return make_primitive(created);
}

// Return the number of a layout; equal layouts have one number. -1 if memory is exhausted.
int64_t number_of(const MemoryDesc* description) {
  static std::mutex mutex;
  // Never destroyed: calls may still run while the library is unloaded.
  static auto* const known = new std::vector<MemoryDescOwner>;
  const Api& api = runtime()->api;
  const std::lock_guard lock(mutex);
  for (size_t number = 0; number < known->size(); ++number) {
    if (api.memory_desc_equal((*known)[number].get(), description))
      return static_cast<int64_t>(number);
  }
  MemoryDesc* copy = nullptr;
  if (api.memory_desc_clone(&copy, description) != kSuccess) return -1;
  known->emplace_back(copy);
  return static_cast<int64_t>(known->size()) - 1;
}

size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

std::unique_ptr<Operation> Operation::make(PrimitiveDescOwner description,
                                           std::vector<Port> ports) {
  const Api& api = runtime()->api;
  if (description == nullptr || is_reference(description.get())) return nullptr;
  auto operation = std::make_unique<Operation>();
  operation->primitive_ = make_primitive(description.get());
  const MemoryDesc* scratchpad = api.primitive_desc_query_md(description.get(), kScratchpadDesc, 0);
  operation->scratchpad_ = make_memory(scratchpad);
  if (operation->primitive_ == nullptr || operation->scratchpad_ == nullptr) return nullptr;
  size_t bytes = aligned(api.memory_desc_get_size(scratchpad));
  for (Port& port : ports) {
    Operand operand{
        port.argument, make_memory(port.given.get()), nullptr, nullptr, false, 0, 0, {}};
    operand.written = port.argument == kDestination || port.argument >= kDiffSource;
    if (port.argument == kDiffDestination) operand.written = false;
    if (operand.given == nullptr) return nullptr;
    // Operands with a query of 0 are used as they are.
    const MemoryDesc* wanted =
        port.query == 0 ? nullptr : api.primitive_desc_query_md(description.get(), port.query, 0);
    if (wanted != nullptr && !api.memory_desc_equal(wanted, port.given.get())) {
      operand.wanted = make_memory(wanted);
      operand.convert = operand.written ? make_reorder(wanted, port.given.get())
                                        : make_reorder(port.given.get(), wanted);
      if (operand.wanted == nullptr || operand.convert == nullptr) return nullptr;
      operand.offset = bytes;
      operand.bytes = api.memory_desc_get_size(wanted);
      if (operand.argument == kWeights) {
        operand.packing = {number_of(port.given.get()), number_of(wanted)};
        if (operand.packing.given < 0 || operand.packing.packed < 0) return nullptr;
      }
      bytes += aligned(operand.bytes);
    }
    operation->operands_.push_back(std::move(operand));
  }
  operation->scratch_bytes_ = bytes;
  return operation;
}

bool Operation::convert(const Operand& operand, Stream* stream) const {
  Memory* from = operand.written ? operand.wanted.get() : operand.given.get();
  Memory* to = operand.written ? operand.given.get() : operand.wanted.get();
  const ExecArgument arguments[2] = {{kSource, from}, {kDestination, to}};
  return runtime()->api.primitive_execute(operand.convert.get(), stream, 2, arguments) == kSuccess;
}

bool Operation::run(const kernels::Launch& launch, Stream* stream, void* const* data) const {
  const Api& api = runtime()->api;
  const kernels::Workspace<char> scratch(launch, static_cast<int64_t>(scratch_bytes_));
  std::shared_ptr<const constants::Packed> weights;
  ExecArgument arguments[8];
  int count = 0;
  for (const Operand& operand : operands_) {
    api.memory_set_data_handle(operand.given.get(), data[count]);
    Memory* used = operand.given.get();
    if (operand.wanted != nullptr) {
      used = operand.wanted.get();
      if (operand.argument == kWeights) {
        weights = constants::kept(operand.packing, data[count], operand.bytes, [&](void* to) {
          api.memory_set_data_handle(used, to);
          return convert(operand, stream);
        });
      }
      const bool kept = operand.argument == kWeights && weights != nullptr;
      api.memory_set_data_handle(used, kept ? weights->data : scratch.data() + operand.offset);
      if (!operand.written && !kept && !convert(operand, stream)) return false;
    }
    arguments[count++] = {operand.argument, used};
  }
  api.memory_set_data_handle(scratchpad_.get(), scratch.data());
  arguments[count++] = {kScratchpad, scratchpad_.get()};
  if (api.primitive_execute(primitive_.get(), stream, count, arguments) != kSuccess) return false;
  for (const Operand& operand : operands_) {
    if (operand.wanted != nullptr && operand.written && !convert(operand, stream)) return false;
  }
  return true;
}

}  // namespace dl::cpu::onednn
