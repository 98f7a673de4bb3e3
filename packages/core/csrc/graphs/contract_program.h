// Contract graphs (dl/contract_graph.h) on torch tensors: run by the executor of dl-graph, in memory
// of this allocator and on the thread's current stream.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dl/contract_graph.h"
#include "graphs/sized_layout.h"

namespace dl::core {

// The executor's functions, which stand in another library.
struct ContractExecutor {
  decltype(&dl_contract_session_open) open;
  decltype(&dl_contract_session_close) close;
  decltype(&dl_contract_session_run) run;
  decltype(&dl_contract_session_generator) generator;
};

struct ContractInput {
  SizedLayout layout;
  bool written;
};

// A new tensor: a view of one of the blocks that a run makes.
struct ContractOutput {
  size_t block;
  SizedLayout layout;
};

// A symbol that no input has as a size: the executor takes it by name.
struct PassedSize {
  std::string name;
  size_t symbol;
};

// The entry "main" of a graph. Its inputs are the tensors that are passed, and behind them a
// block of bytes for each of `blocks`, into which it writes its outputs. Any thread may run it.
// All sizes may depend on symbols; what the last 64 tuples of them came to is kept.
class ContractProgram {
 public:
  // `graph` outlives it. `generator`: the name of the graph's one, which is the device's default
  // generator; empty: it has none.
  ContractProgram(const dl_contract_graph_t* graph, const ContractExecutor& executor, int device,
                  std::string generator, std::vector<ContractInput> inputs,
                  std::vector<SizeExpression> blocks, std::vector<ContractOutput> outputs,
                  std::vector<PassedSize> passed);
  ~ContractProgram();

  // `sizes`: of each symbol. Throws c10::Error that names the operator which failed.
  std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs, const Sizes& sizes);

 private:
  struct Session;
  struct Bound;

  std::shared_ptr<const Bound> bind(const Sizes& sizes);

  std::unique_ptr<Session> take(void* stream);
  void give_back(void* stream, std::unique_ptr<Session> session);

  const dl_contract_graph_t* graph_;
  ContractExecutor executor_;
  int device_;
  std::string generator_;
  int64_t entry_;
  std::vector<ContractInput> inputs_;
  std::vector<SizeExpression> blocks_;
  std::vector<ContractOutput> outputs_;
  std::vector<PassedSize> passed_;
  std::map<Sizes, std::shared_ptr<const Bound>> bound_;
  std::mutex mutex_;
  // Those that no thread uses at the moment, by stream: work of one stream may share memory.
  std::map<void*, std::vector<std::unique_ptr<Session>>> idle_;
};

}  // namespace dl::core
