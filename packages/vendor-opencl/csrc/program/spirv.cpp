#include "program/spirv.h"

#include <cstring>
#include <map>
#include <set>
#include <string_view>

#include "dl/kit/status.h"

namespace dl::opencl {
namespace {

// Opcodes of the SPIR-V specification, section 3.49.
enum Opcode : uint16_t {
  kName = 5,
  kMemberName = 6,
  kEntryPoint = 15,
  kExecutionMode = 16,
  kFirstType = 19,
  kFunction = 54,
  kFunctionEnd = 56,
  kFunctionCall = 57,
  kVariable = 59,
  kDecorate = 71,
  kGroupDecorate = 74,
  kLifetimeStart = 256,
  kLifetimeStop = 257,
};
constexpr uint32_t kMagic = 0x07230203;
constexpr size_t kHeaderWords = 5;

struct Instruction {
  const uint32_t* words;
  uint16_t count;
  Opcode opcode;
};

struct Function {
  std::vector<Instruction> body;
  std::vector<uint32_t> callees;
};

[[noreturn]] void refuse(const std::string& why) {
  throw kit::Error(DL_ERROR, "the SPIR-V of this library is damaged: " + why);
}

// The instructions of a module before its functions, and each function by its id.
struct Module {
  std::vector<Instruction> preamble;
  std::vector<uint32_t> order;
  std::map<uint32_t, Function> functions;
};

Module parse(const uint32_t* words, size_t count) {
  if (count < kHeaderWords || words[0] != kMagic) refuse("it has no header");
  Module module;
  Function* function = nullptr;
  for (size_t at = kHeaderWords; at < count;) {
    const auto length = static_cast<uint16_t>(words[at] >> 16);
    if (length == 0 || length > count - at)
      refuse("an instruction has no words or ends after the module");
    const Instruction one{words + at, length, static_cast<Opcode>(words[at] & 0xffff)};
    at += length;
    if (one.opcode == kFunction) {
      if (length < 5) refuse("a function has no id");
      module.order.push_back(one.words[2]);
      function = &module.functions[one.words[2]];
    }
    if (function == nullptr) {
      module.preamble.push_back(one);
      continue;
    }
    // PoCL (6) mixes up the variables of work-items whose lifetimes are marked.
    if (one.opcode == kLifetimeStart || one.opcode == kLifetimeStop) continue;
    function->body.push_back(one);
    if (one.opcode == kFunctionCall && length > 3) function->callees.push_back(one.words[3]);
    if (one.opcode == kFunctionEnd) function = nullptr;
  }
  return module;
}

// The name of an entry point, which follows the execution model and the id.
std::string_view name_of(const Instruction& entry) {
  const char* const text = reinterpret_cast<const char*>(entry.words + 3);
  const size_t most = entry.count < 4 ? 0 : size_t{entry.count - 3u} * sizeof(uint32_t);
  return {text, strnlen(text, most)};
}

uint32_t find_kernel(const Module& module, const std::string& name) {
  for (const Instruction& one : module.preamble) {
    if (one.opcode == kEntryPoint && name_of(one) == name) return one.words[2];
  }
  refuse("it has no kernel " + name);
}

// The kernel and the functions that it calls, directly or not.
std::set<uint32_t> reachable(const Module& module, uint32_t kernel) {
  std::set<uint32_t> found;
  std::vector<uint32_t> waiting = {kernel};
  while (!waiting.empty()) {
    const uint32_t id = waiting.back();
    waiting.pop_back();
    if (!found.insert(id).second) continue;
    const auto function = module.functions.find(id);
    if (function == module.functions.end()) refuse("a function that is called is missing");
    waiting.insert(waiting.end(), function->second.callees.begin(), function->second.callees.end());
  }
  return found;
}

// Decides which instructions of the preamble a kernel needs.
class Preamble {
 public:
  Preamble(const Module& module, uint32_t kernel, const std::set<uint32_t>& functions)
      : module_(module), kernel_(kernel) {
    for (const auto& [id, function] : module.functions) {
      if (functions.count(id) != 0) {
        for (const Instruction& one : function.body) mention(one);
      } else {
        for (const Instruction& one : function.body) drop(one);
      }
    }
    for (const Instruction& one : module.preamble) {
      if (one.opcode == kVariable) drop(one);
      if (one.opcode == kEntryPoint && one.words[2] == kernel) mention(one);
      if (is_type_or_constant(one)) mention(one);
    }
    // A variable's initializer may mention other variables.
    for (size_t before = 0; before != mentioned_.size();) {
      before = mentioned_.size();
      for (const Instruction& one : module.preamble) {
        if (one.opcode == kVariable && !is_dropped(one.words[2])) mention(one);
      }
    }
  }

  void append_to(std::vector<uint32_t>* result) const {
    for (const Instruction& one : module_.preamble) {
      if (one.opcode == kGroupDecorate) {
        append_group(one, result);
      } else if (is_needed(one)) {
        result->insert(result->end(), one.words, one.words + one.count);
      }
    }
  }

 private:
  static bool is_type_or_constant(const Instruction& one) {
    return one.opcode >= kFirstType && one.opcode < kFunction;
  }

  // Literals are treated as ids, which at worst keeps too many instructions.
  void mention(const Instruction& one) { mentioned_.insert(one.words + 1, one.words + one.count); }
  // The result of an instruction is its first word, or its second after the type.
  void drop(const Instruction& one) {
    for (uint16_t i = 1; i < one.count && i < 3; ++i) dropped_.insert(one.words[i]);
  }
  bool is_dropped(uint32_t id) const {
    return dropped_.count(id) != 0 && mentioned_.count(id) == 0;
  }

  bool is_needed(const Instruction& one) const {
    switch (one.opcode) {
      case kName:
      case kMemberName:
        return false;
      case kEntryPoint:
        return one.words[2] == kernel_;
      case kExecutionMode:
        return one.words[1] == kernel_;
      case kDecorate:
        return !is_dropped(one.words[1]);
      case kVariable:
        return !is_dropped(one.words[2]);
      default:
        return true;
    }
  }

  // Appends the decoration of a group's remaining members.
  void append_group(const Instruction& one, std::vector<uint32_t>* result) const {
    std::vector<uint32_t> words = {0, one.words[1]};
    for (uint16_t i = 2; i < one.count; ++i) {
      if (!is_dropped(one.words[i])) words.push_back(one.words[i]);
    }
    words[0] = static_cast<uint32_t>(words.size()) << 16 | kGroupDecorate;
    result->insert(result->end(), words.begin(), words.end());
  }

  const Module& module_;
  const uint32_t kernel_;
  std::set<uint32_t> mentioned_, dropped_;
};

}  // namespace

std::vector<uint32_t> single_kernel(const uint32_t* words, size_t count, const std::string& name) {
  const Module module = parse(words, count);
  const uint32_t kernel = find_kernel(module, name);
  const std::set<uint32_t> functions = reachable(module, kernel);
  std::vector<uint32_t> result(words, words + kHeaderWords);
  Preamble(module, kernel, functions).append_to(&result);
  for (uint32_t id : module.order) {
    if (functions.count(id) == 0) continue;
    for (const Instruction& one : module.functions.at(id).body)
      result.insert(result.end(), one.words, one.words + one.count);
  }
  return result;
}

}  // namespace dl::opencl
