// Reader of a JSON object's fields. All fields must be present, of the right kind, and read.
#pragma once

#include <string>

#include "failure.h"
#include "json.h"

namespace dl::graph {

class Fields {
 public:
  // Throws Failure if `json` is not an object.
  explicit Fields(const Json& json) : json_(json) {
    if (!json.is(Json::Kind::kObject)) throw Failure("not an object");
  }

  const Json& any(const std::string& name) {
    const auto found = json_.object.find(name);
    if (found == json_.object.end()) throw Failure("\"" + name + "\" is missing");
    ++read_;
    return found->second;
  }

  const Json& of(const std::string& name, Json::Kind kind) {
    const Json& value = any(name);
    if (!value.is(kind)) throw Failure("\"" + name + "\" is of the wrong type");
    return value;
  }

  const std::string& word(const std::string& name) { return of(name, Json::Kind::kString).string; }
  int64_t integer(const std::string& name) { return of(name, Json::Kind::kInteger).integer; }
  const std::vector<Json>& list(const std::string& name) {
    return of(name, Json::Kind::kArray).array;
  }
  // Reads an index from 0 to `count` - 1.
  size_t place(const std::string& name, size_t count) {
    const int64_t value = integer(name);
    if (value < 0 || static_cast<uint64_t>(value) >= count)
      throw Failure("\"" + name + "\" is " + std::to_string(value) + ", but has to be less than " +
                    std::to_string(count));
    return static_cast<size_t>(value);
  }

  // Throws Failure if there are unknown fields.
  void end() const {
    if (read_ != json_.object.size())
      throw Failure("it has unknown fields; a newer dl-graph may know them");
  }

 private:
  const Json& json_;
  size_t read_ = 0;
};

// Runs `body`, and prefixes the messages of its failures with `where`.
template <typename Body>
auto within(const std::string& where, Body&& body) {
  try {
    return body();
  } catch (const Failure& failure) {
    throw Failure(where + ": " + failure.what(), failure.code);
  }
}

}  // namespace dl::graph
