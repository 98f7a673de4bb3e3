// Table of the contract's operators for the verifier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace dl::graph {

// Type of a parameter. A kCount argument is the length of the arrays that it counts.
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

// Dtype rules of schema/README.md. kAmong: one of the dtypes of the mask.
enum class Rule : uint8_t {
  kAmong,
  kLike,
  kFloatOf,
  kRealOf,
  kComplexOf,
  kAccumulate,
  kPromote,
};

// Indices of parameters begin after the context.
struct Parameter {
  const char* name;
  Type type;
  Direction direction;
  bool nullable;
  bool nullable_entries;
  int16_t counted_by;  // index of the count parameter, or -1
  int16_t fixed;       // required number of entries; 0 for any
  uint64_t may_alias;  // bit n: the parameter with index n
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
  const char* refused;  // why graphs cannot call it; empty if they can

  const Parameter& parameter(size_t place) const;
};

// Returns nullptr if the contract has no operator of that name.
const Operator* find_operator(const std::string& name);
// Returns its index in the order of DIOPI_EACH_OPERATOR.
size_t number_of(const Operator& found);

}  // namespace dl::graph
