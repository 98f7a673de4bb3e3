// The fields of a JSON object, each of which must be there, be of its kind, and be read.
#pragma once

#include <string>

#include "failure.h"
#include "json.h"

namespace dl::graph {

class Fields {
 public:
  // Throws Failure: no object.
  explicit Fields(const Json& json) : json_(json) {
    if (!json.is(Json::Kind::kObject)) throw Failure("no object where one has to be");
  }

  const Json& any(const std::string& name) {
    const auto found = json_.object.find(name);
    if (found == json_.object.end()) throw Failure("\"" + name + "\" is missing");
    ++read_;
    return found->second;
  }

  const Json& of(const std::string& name, Json::Kind kind) {
    const Json& value = any(name);
    if (!value.is(kind)) throw Failure("\"" + name + "\" is of another kind than it has to be");
    return value;
  }

  const std::string& word(const std::string& name) { return of(name, Json::Kind::kString).string; }
  int64_t integer(const std::string& name) { return of(name, Json::Kind::kInteger).integer; }
  const std::vector<Json>& list(const std::string& name) {
    return of(name, Json::Kind::kArray).array;
  }
  // A number from 0 to `count` - 1.
  size_t place(const std::string& name, size_t count) {
    const int64_t value = integer(name);
    if (value < 0 || static_cast<uint64_t>(value) >= count)
      throw Failure("\"" + name + "\" is " + std::to_string(value) + ", but there are only " +
                    std::to_string(count));
    return static_cast<size_t>(value);
  }

  // Throws Failure: there are unknown fields.
  void end() const {
    if (read_ != json_.object.size())
      throw Failure("there are fields that this version does not know; a newer one may");
  }

 private:
  const Json& json_;
  size_t read_ = 0;
};

// Runs `body`; what fails in it begins with `where`.
template <typename Body>
auto within(const std::string& where, Body&& body) {
  try {
    return body();
  } catch (const Failure& failure) {
    throw Failure(where + ": " + failure.what(), failure.code);
  }
}

}  // namespace dl::graph
