// JSON for graph files: numbers are 64-bit integers, keys are unique, and the depth is limited.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dl::graph {

class Json {
 public:
  enum class Kind : uint8_t { kNull, kBool, kInteger, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  bool boolean = false;
  int64_t integer = 0;
  std::string string;
  std::vector<Json> array;
  std::map<std::string, Json> object;  // sorted by bytes, as in the canonical text

  bool is(Kind wanted) const { return kind == wanted; }
};

// Throws Failure for invalid JSON or UTF-8, a number that does not fit int64, a duplicate key, more
// than 64 levels, or more than `most` values.
Json parse_json(std::string_view text, size_t most);

// Returns the canonical text of a document: sorted keys, no white space, only quotes and
// backslashes escaped.
std::string canonical_json(const Json& value);

}  // namespace dl::graph
