#include "operators/header.h"

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace dl::cambricon {
namespace {

// Returns the text without comments and preprocessor lines.
std::string strip(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "/*") == 0) {
      const size_t end = text.find("*/", i + 2);
      i = end == std::string::npos ? text.size() : end + 2;
      out += ' ';
    } else if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
    } else if (text[i] == '#') {
      // A macro may continue on the next lines.
      while (i < text.size() && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
    } else {
      out += text[i++];
    }
  }
  return out;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Returns the words and signs of a text, without spaces.
std::string trimmed(const std::string& text) {
  size_t begin = 0, end = text.size();
  while (begin < end && std::isspace(static_cast<unsigned char>(text[begin])) != 0) ++begin;
  while (end > begin && std::isspace(static_cast<unsigned char>(text[end - 1])) != 0) --end;
  return text.substr(begin, end - begin);
}

// Returns the position behind the bracket that closes the one at `open`.
size_t behind(const std::string& text, size_t open, char opening, char closing) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == opening) ++depth;
    if (text[i] == closing && --depth == 0) return i + 1;
  }
  return text.size();
}

int count_arguments(const std::string& list) {
  if (trimmed(list).empty() || trimmed(list) == "void") return 0;
  int count = 1, depth = 0;
  for (const char c : list) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0) ++count;
  }
  return count;
}

}  // namespace

Header Header::parse(const std::string& raw) {
  const std::string text = strip(raw);
  Header made;
  // An enumerator: a name, and a value unless it follows the one before.
  const auto add_values = [&made](const std::string& body) {
    int64_t next = 0;
    for (size_t begin = 0; begin < body.size();) {
      const size_t comma = std::min(body.find(',', begin), body.size());
      const std::string item = trimmed(body.substr(begin, comma - begin));
      begin = comma + 1;
      if (item.empty()) continue;
      const size_t sign = item.find('=');
      if (sign != std::string::npos) {
        const std::string given = trimmed(item.substr(sign + 1));
        char* end = nullptr;
        const int64_t number = std::strtoll(given.c_str(), &end, 0);
        int64_t other = 0;
        if (!given.empty() && *end == '\0')
          next = number;
        else if (made.find(given, &other))
          next = other;
        else
          return;  // an expression: neither this value nor the following ones are known
      }
      made.values_[trimmed(item.substr(0, sign))] = next++;
    }
  };
  for (size_t i = 0; i < text.size();) {
    if (!is_word(text[i])) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string word = text.substr(i, end - i);
    i = end;
    if (word == "enum") {
      const size_t open = text.find_first_of("{;(", end);
      if (open == std::string::npos || text[open] != '{') continue;
      const size_t close = behind(text, open, '{', '}');
      add_values(text.substr(open + 1, close - open - 2));
      i = close;
    } else if (word.compare(0, 4, "cnnl") == 0) {
      size_t open = end;
      while (open < text.size() && std::isspace(static_cast<unsigned char>(text[open])) != 0)
        ++open;
      if (open >= text.size() || text[open] != '(') continue;
      const size_t close = behind(text, open, '(', ')');
      made.functions_[word] = count_arguments(text.substr(open + 1, close - open - 2));
      i = close;
    }
  }
  return made;
}

Header Header::read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  return parse(std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
}

bool Header::find(const std::string& name, int64_t* value) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return false;
  *value = found->second;
  return true;
}

int Header::arguments_of(const std::string& function) const {
  const auto found = functions_.find(function);
  return found == functions_.end() ? -1 : found->second;
}

}  // namespace dl::cambricon
