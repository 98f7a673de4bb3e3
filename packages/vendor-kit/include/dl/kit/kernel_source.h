// Validated copy of the kernel extension's source text.
#ifndef DL_KIT_KERNEL_SOURCE_H_
#define DL_KIT_KERNEL_SOURCE_H_

#include <string>
#include <utility>
#include <vector>

#include "dl/kernel.h"
#include "dl/kit/base.h"
#include "dl/kit/status.h"

DL_KIT_BEGIN

struct KernelSource {
  // Throws Error if a field is missing or the language is not supported.
  KernelSource(const dl_kernel_source_t* given, const std::string& language) {
    if (!DL_HAS_FIELD(given, dl_kernel_source_t, text))
      throw Error(DL_INVALID_ARGUMENT, "the source struct is too short; set its struct_size");
    const std::string asked = text_of(given->language, "the language");
    if (asked != language)
      throw Error(DL_INVALID_ARGUMENT,
                  "language '" + asked + "' is not supported; write the kernel in " + language);
    name = text_of(given->name, "the name");
    if (name.empty() || name.find('/') != std::string::npos)
      throw Error(DL_INVALID_ARGUMENT, "the name '" + name + "' is empty or a path");
    text = text_of(given->text, "the text");
    if (DL_HAS_FIELD(given, dl_kernel_source_t, option_count)) {
      check_list(given->options, given->option_count, "options");
      for (uint64_t i = 0; i < given->option_count; ++i)
        options.push_back(text_of(given->options[i], "an option"));
    }
    if (DL_HAS_FIELD(given, dl_kernel_source_t, header_count)) {
      check_list(given->headers, given->header_count, "headers");
      for (uint64_t i = 0; i < given->header_count; ++i)
        headers.emplace_back(text_of(given->headers[i].name, "a header's name"),
                             text_of(given->headers[i].text, "a header's text"));
    }
    if (DL_HAS_FIELD(given, dl_kernel_source_t, seconds)) seconds = given->seconds;
    if (!(seconds >= 0))
      throw Error(DL_INVALID_ARGUMENT,
                  std::to_string(seconds) + " seconds is not a valid timeout; 0 means no timeout");
  }

  // Cache key of the compiled code.
  std::string key() const {
    std::string all;
    const auto add = [&](const std::string& part) {
      all += std::to_string(part.size()) + ":" + part;
    };
    add(name);
    add(text);
    add(std::to_string(options.size()));
    for (const std::string& option : options) add(option);
    for (const auto& [header, content] : headers) {
      add(header);
      add(content);
    }
    return all;
  }

  std::string name, text;
  std::vector<std::string> options;
  std::vector<std::pair<std::string, std::string>> headers;
  double seconds = 0;

 private:
  static std::string text_of(const char* given, const char* what) {
    if (given == nullptr)
      throw Error(DL_INVALID_ARGUMENT, std::string(what) + " of the source is NULL");
    return given;
  }
  static void check_list(const void* list, uint64_t count, const char* what) {
    if (list == nullptr && count > 0)
      throw Error(DL_INVALID_ARGUMENT, std::to_string(count) + " " + what + ", but they are NULL");
  }
};

DL_KIT_END

#endif  // DL_KIT_KERNEL_SOURCE_H_
