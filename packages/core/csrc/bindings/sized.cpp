#include "bindings/sized.h"

namespace dl::core {

SizeExpression expression_of(const GivenSize& given, size_t symbols) {
  if (const auto* const number = std::get_if<int64_t>(&given)) return {*number};
  return {std::get<1>(given), symbols};
}

std::vector<SizeExpression> expressions_of(const std::vector<GivenSize>& given, size_t symbols) {
  std::vector<SizeExpression> out;
  out.reserve(given.size());
  for (const GivenSize& each : given) out.push_back(expression_of(each, symbols));
  return out;
}

SizedLayout layout_of(const GivenLayout& given, size_t symbols) {
  const auto& [type, sizes, strides, offset] = given;
  return {type, expressions_of(sizes, symbols), expressions_of(strides, symbols),
          expression_of(offset, symbols)};
}

}  // namespace dl::core
