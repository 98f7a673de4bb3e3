// The choices of this vendor for the choices extension (dl/kit/choices.h): plans of matrix
// products.
#ifndef DL_OPENCL_EXTENSIONS_CHOICES_H_
#define DL_OPENCL_EXTENSIONS_CHOICES_H_

#include <cstdint>
#include <string>

#include "dl/kit/choices.h"

namespace dl::opencl {

// A choice is the tile and the number of pieces of the sums: "large", "small", "small/4".
struct Choices {
  enum class Point : int32_t { kProduct };
  static constexpr const char* kPoints[] = {"product"};
  struct Choice {
    enum Tile : int32_t { kUsual, kSmall, kLarge } tile = kUsual;
    int32_t pieces = 1;
  };
  static bool parse(Point point, const std::string& name, Choice* choice);
};

// Makes products look their plans up. Call it before the first operator.
void install_choices();

}  // namespace dl::opencl

#endif  // DL_OPENCL_EXTENSIONS_CHOICES_H_
