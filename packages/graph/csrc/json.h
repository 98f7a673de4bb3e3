// JSON as graph files use it: integers of 64 bits and no other numbers, keys once, limited depth.
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
  std::map<std::string, Json> object;  // in the order of the canonical text: by bytes

  bool is(Kind wanted) const { return kind == wanted; }
};

// Throws Failure: not JSON, not UTF-8, a number that does not fit int64, a key twice, more than 64
// levels, or more than `most` values.
Json parse_json(std::string_view text, size_t most);

// The one way to write a document: keys sorted, no white space, only quotes and backslashes
// escaped.
std::string canonical_json(const Json& value);

}  // namespace dl::graph
