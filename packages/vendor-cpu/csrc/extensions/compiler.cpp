#include "extensions/compiler.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "extensions/cpu_kernel.h"
#include "extensions/file.h"
#include "extensions/process.h"

namespace dl::cpu {
namespace {

constexpr double kSeconds = 300;

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_program(const std::string& path) {
  struct stat status;
  return path[0] == '/' && stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

// Return the first program of that name in a folder of PATH, trusted or not; empty if there is
// none.
std::string in_path(const std::string& name) {
  std::string_view rest = setting("PATH");
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const std::string folder(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    // Skip relative folders: the current folder was not chosen by the user.
    if (!folder.empty() && folder[0] == '/' && is_program(folder + "/" + name))
      return folder + "/" + name;
  }
  return {};
}

Compiler judged(const std::string& path) {
  if (trusted(path)) return {path, {}};
  return {{},
          path + " is in a folder that others can write to; name another compiler in DL_CPU_CXX"};
}

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// Return true for -f, -m, -W and -std= options that name no folder and no list of further options.
bool is_plain(std::string_view option) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+=-";
  return option.find_first_not_of(kLetters) == std::string_view::npos;
}

// Prefixes of the -f options that affect code generation. Other -f options may write files, load
// plugins, or pass options on, such as -fcompare-debug=.
bool chooses_code(std::string_view name) {
  constexpr std::string_view kAllowed[] = {"PIC",
                                           "align-",
                                           "associative-math",
                                           "char8_t",
                                           "constexpr-",
                                           "cx-",
                                           "excess-precision",
                                           "exceptions",
                                           "fast-math",
                                           "finite-loops",
                                           "finite-math",
                                           "fp-",
                                           "function-sections",
                                           "gcse",
                                           "inline",
                                           "ivopts",
                                           "jump-tables",
                                           "loop-",
                                           "math-errno",
                                           "omit-frame-",
                                           "openmp-simd",
                                           "pack-struct",
                                           "peel-loops",
                                           "permissive",
                                           "pic",
                                           "prefetch-loop",
                                           "reciprocal-math",
                                           "rename-registers",
                                           "rounding-math",
                                           "rtti",
                                           "sanitize=",
                                           "schedule-",
                                           "short-enums",
                                           "signaling-nans",
                                           "signed-",
                                           "split-",
                                           "stack-protector",
                                           "strict-",
                                           "template-depth",
                                           "trapping-math",
                                           "trapv",
                                           "tree-",
                                           "unroll-",
                                           "unsafe-math",
                                           "unsigned-char",
                                           "vect-cost",
                                           "vectorize",
                                           "visibility",
                                           "wrapv"};
  if (starts_with(name, "no-")) name.remove_prefix(3);
  return std::any_of(std::begin(kAllowed), std::end(kAllowed),
                     [&](std::string_view start) { return starts_with(name, start); });
}

// Return true for options that only affect code generation: none that writes a file, runs a
// program, loads a plugin, or reads a file that other users could have written.
bool is_allowed(std::string_view option) {
  if (option.find('\n') != std::string_view::npos) return false;
  if (starts_with(option, "-I")) return option.size() > 2 && trusted(std::string(option.substr(2)));
  for (const std::string_view start : {"-D", "-U"}) {
    if (starts_with(option, start)) return option.size() > start.size();
  }
  if (!is_plain(option)) return false;
  if (starts_with(option, "-f")) return chooses_code(option.substr(2));
  if (starts_with(option, "-m")) return option.size() > 2 && !starts_with(option, "-mllvm");
  if (starts_with(option, "-std=")) return option.size() > 5;
  return starts_with(option, "-W") || starts_with(option, "-O") || option == "-g";
}

// Return true for a relative path that stays below its folder.
bool is_header_name(const std::string& name) {
  if (name.empty() || name[0] == '/' || name.size() > 200) return false;
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";
  return name.find_first_not_of(kLetters) == std::string::npos &&
         ("/" + name + "/").find("/../") == std::string::npos;
}

std::string text_of(const char* text, const char* what) {
  if (text == nullptr) throw kit::Error(DL_INVALID_ARGUMENT, std::string(what) + " is NULL");
  return text;
}

void check_list(const void* list, uint64_t count, const char* what) {
  constexpr uint64_t kMost = 4096;
  if (count > kMost)
    throw kit::Error(DL_INVALID_ARGUMENT, std::to_string(count) + " " + what + " are more than " +
                                              std::to_string(kMost));
  if (count > 0 && list == nullptr)
    throw kit::Error(DL_INVALID_ARGUMENT, std::string("the list of ") + what + " is NULL");
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Return the prerequisites of a make rule, except those in `folder`.
std::vector<std::string> files_of_rule(const std::string& rule, const std::string& folder) {
  std::vector<std::string> files;
  std::string file;
  const size_t colon = rule.find(": ");
  const auto end = [&] {
    if (!file.empty() && !starts_with(file, folder) && file[0] == '/') files.push_back(file);
    file.clear();
  };
  for (size_t i = colon == std::string::npos ? rule.size() : colon + 1; i < rule.size(); ++i) {
    const bool escaped = rule[i] == '\\' && i + 1 < rule.size();
    if (escaped && rule[i + 1] == '\n') {
      ++i;
      end();
    } else if (escaped && (rule[i + 1] == ' ' || rule[i + 1] == '#')) {
      file += rule[++i];
    } else if (rule[i] == ' ' || rule[i] == '\n') {
      end();
    } else {
      file += rule[i];
    }
  }
  end();
  return files;
}

// Convert "file.cpp:3:17:void add(...)\t48\tstatic" to "add 48", line by line.
std::string usage_by_name(const std::string& report) {
  std::string lines;
  std::string_view rest = report;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t tab = line.find('\t'), open = line.find('(');
    if (tab == std::string_view::npos || open > tab) continue;
    const size_t begin = line.find_last_of(" :", open) + 1;
    const std::string_view bytes = line.substr(tab + 1, line.find('\t', tab + 1) - tab - 1);
    lines.append(line.substr(begin, open - begin)).append(" ").append(bytes).append("\n");
  }
  return lines;
}

std::vector<std::string> architecture_options() {
  const std::string level = DL_CPU_ISA;
  if (level == "native") return {};
  std::vector<std::string> options = {"-march=" + level};
  if (level == "x86-64-v4") options.emplace_back("-mprefer-vector-width=512");
  return options;
}

// Return true if a failed compiler could not write its files.
bool is_out_of_space(const std::string& output) {
  // Texts of strerror for ENOSPC, EDQUOT, EROFS and EFBIG in the compiler's locale, which is C.
  constexpr std::string_view kCauses[] = {"No space left on device", "Disk quota exceeded",
                                          "Read-only file system", "File too large"};
  return std::any_of(std::begin(kCauses), std::end(kCauses), [&](std::string_view cause) {
    return output.find(cause) != std::string::npos;
  });
}

// Runs the compiler's processes for one source, one after the other.
class Run {
 public:
  Run(const Source& source, const std::string& folder)
      : source_(source), folder_(folder), end_(Clock::now() + Seconds(source.seconds)) {}

  // Throws Error unless the process succeeds in time.
  void operator()(const std::vector<std::string>& words) {
    const std::vector<std::string> environment = {std::string("PATH=") + setting("PATH"),
                                                  std::string("HOME=") + setting("HOME"),
                                                  "TMPDIR=" + folder_, "LC_ALL=C.UTF-8"};
    const double left = std::max(0.0, Seconds(end_ - Clock::now()).count());
    Finished finished = run_program(words, environment, left);
    replace_all(finished.output, folder_ + "/", "");
    output_ += finished.output;
    if (!finished.in_time) {
      char text[80];
      std::snprintf(text, sizeof text, "the compiler was stopped after %g seconds",
                    source_.seconds);
      throw kit::Error(DL_ERROR, text, nullptr, output_);
    }
    if (finished.good) return;
    if (is_out_of_space(output_))
      throw FolderError(DL_ERROR, "the compiler cannot write", nullptr, output_);
    for (const std::string& word : words) output_ += (&word == &words.front() ? "\n" : " ") + word;
    replace_all(output_, folder_ + "/", "");
    throw kit::Error(DL_INVALID_ARGUMENT, source_.name + " does not compile", nullptr, output_);
  }

  const std::string& output() const { return output_; }

 private:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;

  const Source& source_;
  const std::string& folder_;
  const std::chrono::time_point<Clock, Seconds> end_;
  std::string output_;
};

}  // namespace

Compiler find_compiler() {
  const std::string chosen = setting("DL_CPU_CXX");
  if (chosen == "off") return {{}, "DL_CPU_CXX=off disables the compiler; unset it"};
  if (!chosen.empty()) {
    const std::string path = chosen.find('/') == std::string::npos ? in_path(chosen) : chosen;
    if (!path.empty() && is_program(path)) return judged(path);
    return {
        {},
        "DL_CPU_CXX=" + chosen.substr(0, 80) +
            " is neither an absolute path of a program nor a program in PATH; correct or unset it"};
  }
  for (const char* name : {"c++", "g++", "clang++"}) {
    const std::string path = in_path(name);
    if (!path.empty()) return judged(path);
  }
  return {{},
          "no c++, g++ or clang++ is in PATH; install a C++ compiler, or name one in "
          "DL_CPU_CXX"};
}

Source::Source(const dl_kernel_source_t* source) : seconds(kSeconds) {
  if (!DL_HAS_FIELD(source, dl_kernel_source_t, text))
    throw kit::Error(DL_INVALID_ARGUMENT, "the source's struct is too short; set its struct_size");
  if (const std::string language = text_of(source->language, "the language"); language != "c++")
    throw kit::Error(DL_INVALID_ARGUMENT, "language '" + language +
                                              "' is unknown; this vendor compiles "
                                              "c++");
  name = text_of(source->name, "the name");
  if (!is_header_name(name) || name.find('/') != std::string::npos)
    throw kit::Error(DL_INVALID_ARGUMENT, "'" + name + "' is not a file name without a folder");
  if (name.find('.') == std::string::npos) name += ".cpp";
  text = text_of(source->text, "the text");
  if (DL_HAS_FIELD(source, dl_kernel_source_t, option_count)) {
    check_list(source->options, source->option_count, "options");
    for (uint64_t i = 0; i < source->option_count; ++i) {
      options.push_back(text_of(source->options[i], "an option"));
      if (!is_allowed(options.back()))
        throw kit::Error(
            DL_INVALID_ARGUMENT,
            "option '" + options.back() +
                "' is rejected; allowed: -D, -U, -O, -std=, -g, -W, the -m and -f options "
                "that "
                "select generated code, and -I of a folder that others cannot write to");
    }
  }
  if (DL_HAS_FIELD(source, dl_kernel_source_t, header_count)) {
    check_list(source->headers, source->header_count, "headers");
    for (uint64_t i = 0; i < source->header_count; ++i) {
      headers.emplace_back(text_of(source->headers[i].name, "a header's name"),
                           text_of(source->headers[i].text, "a header's text"));
      if (!is_header_name(headers.back().first))
        throw kit::Error(DL_INVALID_ARGUMENT,
                         "'" + headers.back().first +
                             "' is not the name of a header: it must be a path "
                             "below a folder, of letters, digits and _ . / + -");
    }
  }
  if (DL_HAS_FIELD(source, dl_kernel_source_t, seconds)) {
    if (!(source->seconds >= 0 && source->seconds <= 86400))
      throw kit::Error(DL_INVALID_ARGUMENT,
                       std::to_string(source->seconds) +
                           " is not a timeout of 0 to 86400 seconds for the compiler");
    if (source->seconds > 0) seconds = source->seconds;
  }
}

std::string compilation_identity(const Compiler& compiler) {
  return std::string(DL_CPU_VERSION " " DL_CPU_ISA " ") + kCpuKernelHeader + compiler.path + " " +
         file_identity(compiler.path);
}

namespace {

Compiled compile_in(const Compiler& compiler, const Source& source, const std::string& workplace) {
  const TemporaryFolder folder(workplace);
  const std::string root = folder.path() + "/", include = root + "include/";
  const auto put = [&](const std::string& name, const std::string& text) {
    const std::string path = include + name;
    make_folders(path.substr(0, path.rfind('/')));
    unlink(path.c_str());
    write_file(path, text);
  };
  put("dl_cpu_kernel.h", kCpuKernelHeader);
  for (const auto& [name, text] : source.headers) put(name, text);
  write_file(root + source.name, source.text);
  const std::string object = root + "kernel.o", library = root + "kernel.so",
                    rule = root + "kernel.d";
  std::vector<std::string> words = {compiler.path, "-std=c++17", "-O3"};
  const auto add = [&](const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  add(architecture_options());
  add(source.options);
  add({"-I" + include, "-ffile-prefix-map=" + root + "=", "-fPIC", "-fvisibility=hidden",
       "-fstack-usage", "-MD", "-MF", rule, "-x", "c++", "-c", root + source.name, "-o", object});
  Run run(source, folder.path());
  run(words);
  run({compiler.path, "-shared", object, "-o", library});
  std::optional<std::string> created = read_file(library);
  if (!created || created->empty())
    throw kit::Error(DL_ERROR, "the compiler created no library", nullptr, run.output());
  return {std::move(*created), run.output(), files_of_rule(read_file(rule).value_or(""), root),
          usage_by_name(read_file(root + "kernel.su").value_or(""))};
}

}  // namespace

Compiled compile(const Compiler& compiler, const Source& source,
                 const std::vector<std::string>& work_folders) {
  for (size_t i = 0;; ++i) {
    try {
      return compile_in(compiler, source, work_folders[i]);
    } catch (const FolderError&) {
      if (i + 1 == work_folders.size()) throw;
    }
  }
}

}  // namespace dl::cpu
