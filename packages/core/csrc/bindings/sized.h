// Sizes and layouts as Python passes them.
#pragma once

#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include <tuple>
#include <variant>
#include <vector>

#include "graphs/sized_layout.h"

namespace dl::core {

// An integer, or an expression in the form that SizeExpression takes.
using GivenSize = std::variant<int64_t, std::vector<int64_t>>;
// Dtype, sizes, strides and storage offset.
using GivenLayout =
    std::tuple<at::ScalarType, std::vector<GivenSize>, std::vector<GivenSize>, GivenSize>;

SizeExpression expression_of(const GivenSize& given, size_t symbols);
std::vector<SizeExpression> expressions_of(const std::vector<GivenSize>& given, size_t symbols);
SizedLayout layout_of(const GivenLayout& given, size_t symbols);

}  // namespace dl::core
