// A contract graph: what a .dlg file says, read and checked for all that needs no sizes.
#pragma once

#include <string>
#include <vector>

#include "expression.h"
#include "operators.h"
#include "safetensors.h"

namespace dl::graph {

enum class StorageKind : uint8_t { kInput, kConstant, kState, kTemp, kOutput };
const char* dtype_text(int32_t dtype);
// Throws Failure: the contract has no dtype of that name.
int32_t dtype_of(const std::string& name);

struct Storage {
  StorageKind kind = StorageKind::kTemp;
  size_t shared = 0;  // the place among the graph's constants or states
  Expression bytes;
};

// A view of a storage; every tensor of a graph is one.
struct View {
  std::string name;
  int32_t dtype = 0;
  size_t storage = 0;
  std::vector<Expression> shape;
  std::vector<Expression> strides;  // in elements
  Expression offset;                // in elements
};

struct Argument {
  // The fields that parameters of the type use; null where the operator allows it.
  bool null = false;
  std::vector<int64_t> places;    // tensors or generators; -1: no entry
  std::vector<Expression> sizes;  // of a floating-point number: what it is the quotient of
  double number = 0;
  std::string word;
  int32_t dtype = 0;  // of a scalar
  bool floating = false;
};

struct Call {
  const Operator* called = nullptr;
  std::vector<Argument> arguments;  // by place
};

// Offsets of the temporaries for one tuple of sizes, made beforehand.
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
  std::vector<size_t> passed;  // symbols that the caller gives: no input has them as a size
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
  int64_t initial = -1;  // the constant that it begins as; -1: zeros
};

struct Graph {
  std::string text;  // canonical
  std::vector<Constant> constants;
  std::vector<State> states;
  std::vector<std::string> generators;
  std::vector<Entry> entries;
};

}  // namespace dl::graph
