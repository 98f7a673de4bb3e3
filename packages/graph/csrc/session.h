// Graph on a device: its constants, its states, and the programs for the sizes that were run.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "program.h"

namespace dl::graph {

class Session {
 public:
  Session(const Graph& graph, const dl_contract_target_t& target);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void run(size_t entry, const dl_contract_tensor_t* inputs, size_t input_count,
           const dl_contract_size_t* sizes, size_t size_count, dl_contract_tensor_t* outputs,
           size_t output_count);
  void synchronize() { context_.synchronize(); }
  void read(const dl_contract_tensor_t& tensor, void* memory, uint64_t bytes);
  void reset();
  dl_contract_tensor_t state(const std::string& name);
  dl_generator_prefix_t* generator(const std::string& name);
  const Graph& graph() const { return graph_; }

 private:
  // Programs by sizes and by whether all calls run whole.
  using Programs = std::map<std::pair<Sizes, bool>, std::unique_ptr<Program>>;

  struct Slots {
    std::vector<DeviceMemory> memory;  // by input: copies of host inputs
  };

  Sizes sizes_of(const Entry& entry, const dl_contract_tensor_t* inputs,
                 const dl_contract_size_t* sizes, size_t size_count) const;
  Program& program(size_t entry, const Sizes& sizes, bool whole);
  Tiling tiling_of(const Entry& entry, const Concrete& sized, bool whole) const;
  void place_shared(const Entry& entry, Program& made);
  void* input_memory(const Port& port, const dl_contract_tensor_t& input, uint64_t bytes,
                     int64_t item, DeviceMemory& slot);
  void grow_arena(int64_t bytes);
  void forget_oldest(Programs& programs);

  const Graph& graph_;
  Device device_;
  Context context_;
  std::deque<dl_generator_prefix_t> generators_;
  std::vector<DeviceMemory> constants_;
  std::vector<void*> constant_data_;
  std::vector<DeviceMemory> states_;
  std::vector<int64_t> state_sizes_;
  DeviceMemory arena_;
  std::vector<Slots> slots_;        // by entry
  std::vector<Programs> programs_;  // by entry
  uint64_t runs_ = 0;
};

}  // namespace dl::graph
