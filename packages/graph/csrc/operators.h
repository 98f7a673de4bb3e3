// The operators of the contract as the verifier knows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace dl::graph {

// How an argument is passed; kCount follows from the arrays that it counts.
enum class Type : uint8_t {
  kTensor,
  kTensors,
  kGenerator,
  kGenerators,
  kInt64,
  kInt32,
  kFloat,
  kDouble,
  kBool,
  kSize,
  kSizePointer,
  kInt64Pointer,
  kDoublePointer,
  kBoolPointer,
  kScalar,
  kString,
  kMemoryFormat,
  kReduction,
  kRoundMode,
  kCount,
  kRefused,
};

enum class Direction : uint8_t { kIn, kOut, kInOut };

// Dtype rules, as schema/README.md has them. kAmong: one of the dtypes of the mask.
enum class Rule : uint8_t {
  kAmong,
  kLike,
  kFloatOf,
  kRealOf,
  kComplexOf,
  kAccumulate,
  kPromote,
};

// Places of parameters count from the one after the context.
struct Parameter {
  const char* name;
  Type type;
  Direction direction;
  bool nullable;
  bool nullable_entries;
  int16_t counted_by;  // the place of the count, or -1
  int16_t fixed;       // as many entries as the operator fixes; 0: free
  uint64_t may_alias;  // bit n: the parameter at place n
  Rule rule;
  uint32_t dtypes;  // bit n: diopiDtype_t n
  int16_t of;
  int16_t other;
  const char* values;  // allowed words between bars; empty: any
};

struct Operator {
  const char* name;
  uint64_t fingerprint;
  uint16_t first;
  uint16_t count;
  const char* refused;  // why no graph may call it; empty if one may

  const Parameter& parameter(size_t place) const;
};

// nullptr: the contract has none of that name.
const Operator* find_operator(const std::string& name);
// Its place in the order of DIOPI_EACH_OPERATOR.
size_t number_of(const Operator& found);

}  // namespace dl::graph
