#include "json.h"

#include <charconv>

#include "failure.h"

namespace dl::graph {
namespace {

constexpr int kDeepest = 64;

// Returns true for valid UTF-8: shortest forms, no surrogates, at most U+10FFFF (RFC 3629).
bool is_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at++]);
    if (first < 0x80) continue;
    const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
    if (first < 0xC2 || first > 0xF4 || text.size() - at < static_cast<size_t>(more)) return false;
    uint32_t code = first & (0x3FU >> more);
    for (int i = 0; i < more; ++i) {
      const auto next = static_cast<unsigned char>(text[at++]);
      if ((next & 0xC0) != 0x80) return false;
      code = code << 6 | (next & 0x3F);
    }
    if ((more == 2 && (code < 0x800 || (code >= 0xD800 && code < 0xE000))) ||
        (more == 3 && (code < 0x10000 || code > 0x10FFFF)))
      return false;
  }
  return true;
}

class Parser {
 public:
  Parser(std::string_view text, size_t most) : text_(text), left_(most) {}

  Json document() {
    if (!is_utf8(text_)) fail("invalid UTF-8");
    Json value = this->value(0);
    skip_space();
    if (at_ != text_.size()) fail("trailing data after the document");
    return value;
  }

 private:
  [[noreturn]] void fail(const char* why) const {
    throw Failure("not valid JSON for a graph: " + std::string(why) + " at byte " +
                  std::to_string(at_));
  }

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      ++at_;
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c, const char* why) {
    skip_space();
    if (!take(c)) fail(why);
  }

  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Json value(int depth) {
    if (depth > kDeepest) fail("more than 64 levels");
    if (left_-- == 0) fail("too many values for a graph");
    skip_space();
    Json out;
    if (at_ >= text_.size()) fail("it ends too early");
    const char c = text_[at_];
    if (c == '{') {
      object(out, depth);
    } else if (c == '[') {
      array(out, depth);
    } else if (c == '"') {
      out.kind = Json::Kind::kString;
      out.string = string();
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      out.kind = Json::Kind::kInteger;
      out.integer = integer();
    } else if (take_word("true") || take_word("false")) {
      out.kind = Json::Kind::kBool;
      out.boolean = c == 't';
    } else if (!take_word("null")) {
      fail("expected a value");
    }
    return out;
  }

  void object(Json& out, int depth) {
    out.kind = Json::Kind::kObject;
    ++at_;
    skip_space();
    if (take('}')) return;
    do {
      skip_space();
      if (at_ >= text_.size() || text_[at_] != '"') fail("expected a key");
      std::string key = string();
      expect(':', "expected a colon");
      const auto [entry, added] = out.object.try_emplace(std::move(key));
      if (!added) fail("duplicate key");
      entry->second = value(depth + 1);
      skip_space();
    } while (take(','));
    if (!take('}')) fail("expected ',' or '}'");
  }

  void array(Json& out, int depth) {
    out.kind = Json::Kind::kArray;
    ++at_;
    skip_space();
    if (take(']')) return;
    do {
      out.array.push_back(value(depth + 1));
      skip_space();
    } while (take(','));
    if (!take(']')) fail("expected ',' or ']'");
  }

  int64_t integer() {
    int64_t number = 0;
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    const auto [next, error] = std::from_chars(begin, end, number);
    if (error != std::errc()) fail("a number that is not a 64-bit integer");
    const std::string_view digits(begin, static_cast<size_t>(next - begin));
    const std::string_view plain = digits[0] == '-' ? digits.substr(1) : digits;
    if ((plain.size() > 1 && plain[0] == '0') || digits == "-0") fail("a number with leading 0s");
    if (next != end && (*next == '.' || *next == 'e' || *next == 'E'))
      fail("a number that is not an integer");
    at_ += digits.size();
    return number;
  }

  uint32_t hex4() {
    uint32_t code = 0;
    if (text_.size() - at_ < 4) fail("it ends too early");
    const char* begin = text_.data() + at_;
    const auto [next, error] = std::from_chars(begin, begin + 4, code, 16);
    if (error != std::errc() || next != begin + 4 || *begin == '-') fail("invalid escape");
    at_ += 4;
    return code;
  }

  static void append_utf8(std::string& out, uint32_t code) {
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xC0 | code >> 6);
      out += static_cast<char>(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      out += static_cast<char>(0xE0 | code >> 12);
      out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
      out += static_cast<char>(0x80 | (code & 0x3F));
    } else {
      out += static_cast<char>(0xF0 | code >> 18);
      out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
      out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
      out += static_cast<char>(0x80 | (code & 0x3F));
    }
  }

  void escape(std::string& out) {
    static constexpr std::string_view kNames = "\"\\/bfnrt";
    static constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    if (at_ >= text_.size()) fail("it ends too early");
    const char c = text_[at_++];
    const size_t place = kNames.find(c);
    if (place != std::string_view::npos) {
      out += kMeant[place];
      return;
    }
    if (c != 'u') fail("invalid escape");
    uint32_t code = hex4();
    if (code >= 0xD800 && code < 0xDC00) {
      if (!take_word("\\u")) fail("unpaired surrogate");
      const uint32_t low = hex4();
      if (low < 0xDC00 || low > 0xDFFF) fail("unpaired surrogate");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code <= 0xDFFF) {
      fail("unpaired surrogate");
    }
    append_utf8(out, code);
  }

  std::string string() {
    std::string out;
    ++at_;
    while (true) {
      if (at_ >= text_.size()) fail("it ends too early");
      const char c = text_[at_++];
      if (c == '"') return out;
      if (static_cast<unsigned char>(c) < 0x20) fail("a control character in a string");
      if (c == '\\') {
        escape(out);
      } else {
        out += c;
      }
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t left_;
};

void write(const Json& value, std::string& out) {
  const auto quoted = [&out](const std::string& text) {
    out += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    out += '"';
  };
  switch (value.kind) {
    case Json::Kind::kNull:
      out += "null";
      break;
    case Json::Kind::kBool:
      out += value.boolean ? "true" : "false";
      break;
    case Json::Kind::kInteger:
      out += std::to_string(value.integer);
      break;
    case Json::Kind::kString:
      quoted(value.string);
      break;
    case Json::Kind::kArray: {
      const char* before = "[";
      for (const Json& entry : value.array) {
        out += before;
        write(entry, out);
        before = ",";
      }
      out += value.array.empty() ? "[]" : "]";
      break;
    }
    case Json::Kind::kObject: {
      const char* before = "{";
      for (const auto& [key, entry] : value.object) {
        out += before;
        quoted(key);
        out += ':';
        write(entry, out);
        before = ",";
      }
      out += value.object.empty() ? "{}" : "}";
      break;
    }
  }
}

}  // namespace

Json parse_json(std::string_view text, size_t most) { return Parser(text, most).document(); }

std::string canonical_json(const Json& value) {
  std::string out;
  write(value, out);
  return out;
}

}  // namespace dl::graph
