#include "finding.h"

#include <cstdio>

namespace sim {
namespace {

std::string triple(const std::array<uint32_t, 3>& of, const char* begin, const char* end) {
  return begin + std::to_string(of[0]) + "," + std::to_string(of[1]) + "," + std::to_string(of[2]) +
         end;
}

}  // namespace

const char* name_of(Fault fault) {
  switch (fault) {
    case Fault::kOutOfBounds:
      return "out-of-bounds";
    case Fault::kMisaligned:
      return "misaligned";
    case Fault::kUninitialised:
      return "uninitialised";
    case Fault::kRace:
      return "race";
    case Fault::kDivergentBarrier:
      return "divergent-barrier";
    case Fault::kDeadlock:
      return "deadlock";
    case Fault::kAssert:
      return "assert";
    case Fault::kTrap:
      return "trap";
    case Fault::kInvalid:
      return "invalid";
    case Fault::kUnsupported:
      return "unsupported";
    case Fault::kTimeout:
      return "timeout";
  }
  return "unknown";
}

std::string Finding::text() const {
  std::string said = std::string("[") + name_of(fault) + "] " + message + "\n  in " + kernel;
  if (!source.empty()) said += " at " + source;
  said += " (PTX line " + std::to_string(line) + "), block " + triple(who.block, "(", ")") +
          " thread " + triple(who.thread, "(", ")");
  if (count > 1) said += ", " + std::to_string(count) + " times";
  return said;
}

Finding* Findings::add(Fault fault, const std::string& kernel, int line, uint64_t detail) {
  const auto key = std::make_tuple(fault, kernel, line, detail);
  const auto [place, fresh] = known_.emplace(key, all_.size());
  if (!fresh) {
    ++all_[place->second].count;
    return nullptr;
  }
  all_.emplace_back();
  Finding& made = all_.back();
  made.fault = fault;
  made.kernel = kernel;
  made.line = line;
  return &made;
}

std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      made += '\\';
      made += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned char>(c));
      made += escaped;
    } else {
      made += c;
    }
  }
  return made + "\"";
}

std::string json_of(const Finding& finding) {
  return "{\"kind\": " + quoted(name_of(finding.fault)) +
         ", \"kernel\": " + quoted(finding.kernel) +
         ", \"block\": " + triple(finding.who.block, "[", "]") +
         ", \"thread\": " + triple(finding.who.thread, "[", "]") +
         ", \"address\": " + std::to_string(finding.address) +
         ", \"source\": " + quoted(finding.source) + ", \"line\": " + std::to_string(finding.line) +
         ", \"count\": " + std::to_string(finding.count) +
         ", \"message\": " + quoted(finding.message) + "}";
}

}  // namespace sim
