// Execution of contract graphs (dl/contract_graph.h) on torch tensors: by the executor of dl-graph,
// with memory of this allocator and on the thread's current stream.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dl/contract_graph.h"
#include "graphs/sized_layout.h"

namespace dl::core {

// Functions of the graph executor, which is part of another library.
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

// A result tensor: a view of one of the blocks that each run allocates.
struct ContractOutput {
  size_t block;
  SizedLayout layout;
};

// A symbol that is not the size of any input; it is passed to the executor by name.
struct PassedSize {
  std::string name;
  size_t symbol;
};

// The entry point "main" of a graph. The graph's inputs are the tensors passed to run(), followed
// by one block of bytes for each of `blocks`, which receive the outputs. Thread-safe. All sizes may
// depend on symbols; the layouts of the last 64 tuples of symbol values are cached.
class ContractProgram {
 public:
  // `graph` must outlive this object. `generator`: name of the graph's generator, which is bound to
  // the device's default generator; empty if the graph has none.
  ContractProgram(const dl_contract_graph_t* graph, const ContractExecutor& executor, int device,
                  std::string generator, std::vector<ContractInput> inputs,
                  std::vector<SizeExpression> blocks, std::vector<ContractOutput> outputs,
                  std::vector<PassedSize> passed);
  ~ContractProgram();

  // `sizes`: values of the symbols. Throws a c10::Error that names the failed operator.
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
  // Idle sessions, by stream: sessions of one stream run in order, so they may share memory.
  std::map<void*, std::vector<std::unique_ptr<Session>>> idle_;
};

}  // namespace dl::core
