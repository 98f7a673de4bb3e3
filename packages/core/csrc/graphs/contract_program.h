// Contract graphs (dl/contract_graph.h) on torch tensors: run by the executor of dl-diopi-proto, in
// memory of this allocator and on the thread's current stream.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dl/contract_graph.h"

namespace dl::core {

// The executor's functions, which stand in another library.
struct ContractExecutor {
  decltype(&dl_contract_session_open) open;
  decltype(&dl_contract_session_close) close;
  decltype(&dl_contract_session_run) run;
  decltype(&dl_contract_session_generator) generator;
};

// How a tensor lies in memory. The offset is in elements from the start of its storage.
struct TensorLayout {
  c10::ScalarType type;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset;

  bool holds(const at::Tensor& tensor) const;
};

struct ContractInput {
  TensorLayout layout;
  bool written;
};

// A new tensor: a view of one of the blocks that a run makes.
struct ContractOutput {
  size_t block;
  TensorLayout layout;
};

// The entry "main" of a graph. Its inputs are the tensors that are passed, and behind them a
// block of bytes for each of `blocks`, into which it writes its outputs. Any thread may run it.
class ContractProgram {
 public:
  // `graph` outlives it. `generator`: the name of the graph's one, which is the device's default
  // generator; empty: it has none.
  ContractProgram(const dl_contract_graph_t* graph, const ContractExecutor& executor, int device,
                  std::string generator, std::vector<ContractInput> inputs,
                  std::vector<int64_t> blocks, std::vector<ContractOutput> outputs);
  ~ContractProgram();

  // Throws c10::Error that names the operator which failed.
  std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs);

 private:
  struct Session;

  std::unique_ptr<Session> take(void* stream);
  void give_back(void* stream, std::unique_ptr<Session> session);

  const dl_contract_graph_t* graph_;
  ContractExecutor executor_;
  int device_;
  std::string generator_;
  int64_t entry_;
  std::vector<ContractInput> inputs_;
  std::vector<int64_t> blocks_;
  std::vector<ContractOutput> outputs_;
  std::mutex mutex_;
  // Those that no thread uses at the moment, by stream: work of one stream may share memory.
  std::map<void*, std::vector<std::unique_ptr<Session>>> idle_;
};

}  // namespace dl::core
