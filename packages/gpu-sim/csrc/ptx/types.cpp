#include <map>

#include "syntax.h"

namespace sim {

Type type_named(std::string_view name) {
  static const std::map<std::string_view, Type> kTypes = {
      {"b8", {Kind::kBits, 1}},           {"b16", {Kind::kBits, 2}},
      {"b32", {Kind::kBits, 4}},          {"b64", {Kind::kBits, 8}},
      {"b128", {Kind::kBits, 16}},        {"u8", {Kind::kUnsigned, 1}},
      {"u16", {Kind::kUnsigned, 2}},      {"u32", {Kind::kUnsigned, 4}},
      {"u64", {Kind::kUnsigned, 8}},      {"s8", {Kind::kSigned, 1}},
      {"s16", {Kind::kSigned, 2}},        {"s32", {Kind::kSigned, 4}},
      {"s64", {Kind::kSigned, 8}},        {"f16", {Kind::kFloat, 2}},
      {"f32", {Kind::kFloat, 4}},         {"f64", {Kind::kFloat, 8}},
      {"f16x2", {Kind::kFloat, 4, 2}},    {"bf16", {Kind::kBrain, 2}},
      {"bf16x2", {Kind::kBrain, 4, 2}},   {"tf32", {Kind::kTensorFloat, 4}},
      {"pred", {Kind::kPredicate, 4}},    {"s16x2", {Kind::kSigned, 4, 2}},
      {"u16x2", {Kind::kUnsigned, 4, 2}},
  };
  const auto found = kTypes.find(name);
  return found == kTypes.end() ? Type{} : found->second;
}

}  // namespace sim
