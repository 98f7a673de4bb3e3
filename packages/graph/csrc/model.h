// Contract graph as read from a .dlg file, after all checks that do not depend on sizes.
#pragma once

#include <string>
#include <vector>

#include "expression.h"
#include "operators.h"
#include "safetensors.h"

namespace dl::graph {

enum class StorageKind : uint8_t { kInput, kConstant, kState, kTemp, kOutput };
const char* dtype_text(int32_t dtype);
// Throws Failure if the contract has no dtype of that name.
int32_t dtype_of(const std::string& name);

struct Storage {
  StorageKind kind = StorageKind::kTemp;
  size_t shared = 0;  // index among the graph's constants or states
  Expression bytes;
};

// View of a storage; every tensor of a graph is a view.
struct View {
  std::string name;
  int32_t dtype = 0;
  size_t storage = 0;
  std::vector<Expression> shape;
  std::vector<Expression> strides;  // in elements
  Expression offset;                // in elements
};

struct Argument {
  // Argument of a call; a parameter's type determines the fields in use. May be null if nullable.
  bool null = false;
  std::vector<int64_t> places;    // tensors or generators; -1: no entry
  std::vector<Expression> sizes;  // of a float: dividend and divisor
  double number = 0;
  std::string word;
  int32_t dtype = 0;  // of a scalar
  bool floating = false;
};

struct Call {
  const Operator* called = nullptr;
  std::vector<Argument> arguments;  // by parameter
};

// Precomputed offsets of the temporaries for one tuple of sizes.
struct StoredPlan {
  Sizes sizes;
  std::vector<int64_t> offsets;  // by storage; -1 for storages that are not temporaries
  int64_t bytes = 0;
};

struct Port {
  std::string name;
  size_t value = 0;
};

struct Entry {
  std::string name;
  Symbols symbols;
  std::vector<size_t> passed;  // symbols that are not a size of an input, passed by the caller
  std::vector<Guard> guards;
  std::vector<Storage> storages;
  std::vector<View> values;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<Call> calls;
  std::vector<StoredPlan> plans;
};

struct Constant {
  std::string name;
  FileTensor tensor;
};

struct State {
  std::string name;
  int64_t bytes = 0;
  int64_t initial = -1;  // the constant with its initial contents; -1 for zeros
};

struct Graph {
  std::string text;  // canonical JSON
  std::vector<Constant> constants;
  std::vector<State> states;
  std::vector<std::string> generators;
  std::vector<Entry> entries;
};

}  // namespace dl::graph
