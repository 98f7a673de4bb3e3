#include "arguments.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "diopi/types.gen.h"

namespace dl::graph {
namespace {

constexpr size_t kLongestList = 4096;

class Reader {
 public:
  Reader(const Graph& graph, const Entry& entry, const Parameter& parameter)
      : graph_(graph), entry_(entry), parameter_(parameter) {}

  Argument read(const Json& json) const {
    Argument out;
    if (json.is(Json::Kind::kNull)) {
      if (!parameter_.nullable) throw Failure("null, but the operator needs it");
      out.null = true;
      return out;
    }
    switch (parameter_.type) {
      case Type::kTensor:
        out.places = {value(json)};
        break;
      case Type::kTensors:
        for (const Json& each : list(json)) out.places.push_back(entry_of(each, &Reader::value));
        break;
      case Type::kGenerator:
        out.places = {generator(json)};
        break;
      case Type::kGenerators:
        for (const Json& each : list(json)) out.places.push_back(generator(each));
        break;
      case Type::kInt64:
      case Type::kInt32:
      case Type::kInt64Pointer:
        out.sizes.emplace_back(json, entry_.symbols);
        if (*parameter_.values != '\0') allow(std::to_string(constant(json)));
        break;
      case Type::kSize:
      case Type::kSizePointer:
        for (const Json& each : list(json)) out.sizes.emplace_back(each, entry_.symbols);
        break;
      case Type::kFloat:
      case Type::kDouble:
      case Type::kDoublePointer:
        floating(json, out);
        break;
      case Type::kBool:
      case Type::kBoolPointer:
        if (!json.is(Json::Kind::kBool)) throw Failure("not a boolean; write true or false");
        out.number = json.boolean ? 1 : 0;
        break;
      case Type::kScalar:
        scalar(json, out);
        break;
      case Type::kString:
        out.word = word(json);
        allow(out.word);
        if (out.word.find('\0') != std::string::npos) throw Failure("a string contains NUL");
        break;
      default:
        out.number = enumerator(word(json));
        out.word = json.string;
    }
    return out;
  }

 private:
  static const std::string& word(const Json& json) {
    if (!json.is(Json::Kind::kString)) throw Failure("not a string");
    return json.string;
  }

  static int64_t constant(const Json& json) {
    if (!json.is(Json::Kind::kInteger)) throw Failure("not an integer");
    return json.integer;
  }

  const std::vector<Json>& list(const Json& json) const {
    if (!json.is(Json::Kind::kArray)) throw Failure("not a list");
    if (json.array.size() > kLongestList) throw Failure("the list has more than 4096 entries");
    if (parameter_.fixed != 0 && json.array.size() != static_cast<size_t>(parameter_.fixed))
      throw Failure("the operator takes " + std::to_string(parameter_.fixed) + " entries, not " +
                    std::to_string(json.array.size()));
    return json.array;
  }

  int64_t entry_of(const Json& json, int64_t (Reader::*read)(const Json&) const) const {
    if (json.is(Json::Kind::kNull) && parameter_.nullable_entries) return -1;
    return (this->*read)(json);
  }

  int64_t value(const Json& json) const {
    const int64_t place = constant(json);
    if (place < 0 || static_cast<uint64_t>(place) >= entry_.values.size())
      throw Failure("value " + std::to_string(place) + " does not exist; the number of values is " +
                    std::to_string(entry_.values.size()));
    return place;
  }

  int64_t generator(const Json& json) const {
    const auto& known = graph_.generators;
    const auto found = std::find(known.begin(), known.end(), word(json));
    if (found == known.end())
      throw Failure("generator " + shown(json.string) +
                    " is not declared; add it to \"generators\"");
    return found - known.begin();
  }

  // Text, or ["/", a, b]: the quotient of two sizes.
  void floating(const Json& json, Argument& out) const {
    if (!json.is(Json::Kind::kArray)) {
      out.number = read_hex(word(json));
      return;
    }
    if (json.array.size() != 3 || !json.array[0].is(Json::Kind::kString) ||
        json.array[0].string != "/")
      throw Failure("not a number; write \"0x1.8p+0\" or [\"/\", a, b]");
    out.sizes.emplace_back(json.array[1], entry_.symbols);
    out.sizes.emplace_back(json.array[2], entry_.symbols);
    if (out.sizes[1].range(entry_.symbols).min <= 0)
      throw Failure("the divisor is " + out.sizes[1].text(entry_.symbols) +
                    ", which may not be positive");
  }

  void scalar(const Json& json, Argument& out) const {
    Fields fields(json);
    out.dtype = dtype_of(fields.word("dtype"));
    out.floating = out.dtype == diopi_dtype_float16 || out.dtype == diopi_dtype_bfloat16 ||
                   out.dtype == diopi_dtype_float32 || out.dtype == diopi_dtype_float64 ||
                   out.dtype == diopi_dtype_tfloat32;
    if (out.dtype >= diopi_dtype_complex32) throw Failure("a scalar cannot be complex");
    if (out.floating) {
      floating(fields.any("value"), out);
    } else {
      out.sizes.emplace_back(fields.any("value"), entry_.symbols);
    }
    fields.end();
  }

  void allow(const std::string& given) const {
    const std::string all = "|" + std::string(parameter_.values) + "|";
    if (all == "||" ||
        (given.find('|') == std::string::npos && all.find("|" + given + "|") != std::string::npos))
      return;
    throw Failure(shown(given) + ", but the operator takes one of " + parameter_.values);
  }

  double enumerator(const std::string& name) const {
    struct Enumerator {
      Type type;
      const char* name;
      int value;
    };
    static constexpr Enumerator kAll[] = {
        {Type::kMemoryFormat, "Contiguous", Contiguous},
        {Type::kMemoryFormat, "ChannelsLast", ChannelsLast},
        {Type::kMemoryFormat, "ChannelsLast3d", ChannelsLast3d},
        {Type::kMemoryFormat, "Preserve", Preserve},
        {Type::kMemoryFormat, "ChannelsLast1d", ChannelsLast1d},
        {Type::kReduction, "ReductionNone", ReductionNone},
        {Type::kReduction, "ReductionMean", ReductionMean},
        {Type::kReduction, "ReductionSum", ReductionSum},
        {Type::kRoundMode, "RoundModeNone", RoundModeNone},
        {Type::kRoundMode, "RoundModeTrunc", RoundModeTrunc},
        {Type::kRoundMode, "RoundModeFloor", RoundModeFloor},
    };
    std::string names;
    for (const Enumerator& each : kAll) {
      if (each.type != parameter_.type) continue;
      if (name == each.name) return each.value;
      names += (names.empty() ? "" : ", ") + std::string(each.name);
    }
    throw Failure(shown(name) + ", but the operator takes one of " + names);
  }

  const Graph& graph_;
  const Entry& entry_;
  const Parameter& parameter_;
};

// Arrays with the same count parameter must have equal lengths.
void check_counts(const Call& call) {
  for (size_t count = 0; count < call.called->count; ++count) {
    if (call.called->parameter(count).type != Type::kCount) continue;
    int64_t length = -1;
    for (size_t place = 0; place < call.called->count; ++place) {
      const Parameter& array = call.called->parameter(place);
      if (array.counted_by != static_cast<int16_t>(count) || call.arguments[place].null) continue;
      const auto entries = static_cast<int64_t>(call.arguments[place].places.size());
      if (length >= 0 && length != entries)
        throw Failure(std::string(array.name) + " and the list before it must have equal lengths");
      length = entries;
    }
  }
}

}  // namespace

double read_hex(const std::string& text) {
  size_t at = text.rfind('-', 0) == 0 ? 1 : 0;
  const double sign = at == 1 ? -1 : 1;
  const std::string rest = text.substr(at);
  if (rest == "inf") return sign * std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  const auto bad = [&] { return Failure(shown(text) + " is not a number; write it as 0x1.8p+0"); };
  const size_t end = rest.find('p');
  if (rest.rfind("0x", 0) != 0 || end == std::string::npos || end < 3 || end > 18) throw bad();
  uint64_t mantissa = 0;
  int digits = -1;
  for (const char c : rest.substr(2, end - 2)) {
    const std::string_view all = "0123456789abcdef";
    const size_t digit = all.find(c);
    if (c == '.' && digits < 0) {
      digits = 0;
    } else if (digit != std::string_view::npos) {
      mantissa = mantissa << 4 | digit;
      if (digits >= 0) ++digits;
    } else {
      throw bad();
    }
  }
  const std::string power = rest.substr(end + 1);
  if (power.size() < 2 || power.size() > 5 || (power[0] != '+' && power[0] != '-') ||
      !std::all_of(power.begin() + 1, power.end(), [](char c) { return c >= '0' && c <= '9'; }))
    throw bad();
  return sign *
         std::ldexp(static_cast<double>(mantissa), std::stoi(power) - 4 * std::max(digits, 0));
}

Call read_call(const Json& json, const Graph& graph, const Entry& entry) {
  if (!json.is(Json::Kind::kArray) || json.array.size() != 2 ||
      !json.array[0].is(Json::Kind::kString))
    throw Failure("not a call; write [\"diopiAdd\", {…}]");
  Call out;
  const std::string& name = json.array[0].string;
  out.called = find_operator(name);
  if (out.called == nullptr)
    throw Failure("unknown operator " + shown(name) + "; a newer dl-graph may know it");
  return within(name, [&] {
    if (*out.called->refused != '\0')
      throw Failure(std::string("a graph cannot contain it: ") + out.called->refused);
    Fields fields(json.array[1]);
    for (size_t place = 0; place < out.called->count; ++place) {
      const Parameter& parameter = out.called->parameter(place);
      out.arguments.push_back(within(parameter.name, [&] {
        return parameter.type == Type::kCount
                   ? Argument()
                   : Reader(graph, entry, parameter).read(fields.any(parameter.name));
      }));
    }
    within("arguments", [&] { fields.end(); });
    check_counts(out);
    return out;
  });
}

}  // namespace dl::graph
