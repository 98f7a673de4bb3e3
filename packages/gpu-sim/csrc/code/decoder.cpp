#include "decoder.h"

#include <cstring>

#include "specials.h"

namespace sim {
namespace {

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  while (true) {
    const size_t dot = text.find('.', begin);
    parts.push_back(text.substr(begin, dot - begin));
    if (dot == std::string_view::npos) return parts;
    begin = dot + 1;
  }
}

}  // namespace

void Decoder::run() {
  lay_out();
  code_.body.reserve(code_.routine->body.size() + 1);
  for (const Statement& statement : code_.routine->body) instruction(statement);
  // A routine may end without `ret`.
  out = Instruction{};
  out.flow = Flow::kReturn;
  out.index = static_cast<int32_t>(code_.body.size());
  out.line = code_.body.empty() ? code_.routine->line : code_.body.back().line;
  code_.body.push_back(out);
}

void Decoder::instruction(const Statement& statement) {
  statement_ = &statement;
  words_ = split(statement.opcode);
  word_ = 1;
  out = Instruction{};
  try {
    const auto found = opcodes().find(words_[0]);
    if (found == opcodes().end()) refuse("unknown opcode");
    found->second(*this);
    if (more()) refuse("unsupported modifier '." + std::string(words_[word_]) + "'");
    if (!statement.guard.empty()) {
      Operand guard;
      guard.name = statement.guard;
      out.guard = predicate(guard);
      out.guard_negated = statement.guard_negated;
    }
  } catch (const Unsupported& error) {
    out = Instruction{};
    out.flow = Flow::kUnsupported;
    std::string text = "line " + std::to_string(statement.line) + ": " +
                       std::string(statement.opcode) + ": " + error.what();
    image_.unsupported.push_back(text);
    extra().text = std::move(text);
  }
  out.index = static_cast<int32_t>(code_.body.size());
  out.line = statement.line;
  out.source = statement.source;
  code_.body.push_back(out);
}

void Decoder::refuse(const std::string& why) const { throw Unsupported(why); }

bool Decoder::take(std::string_view word) {
  if (!more() || words_[word_] != word) return false;
  ++word_;
  return true;
}

int Decoder::take_one_of(std::initializer_list<std::string_view> words) {
  int number = 0;
  for (const std::string_view word : words) {
    if (take(word)) return number;
    ++number;
  }
  return -1;
}

std::string_view Decoder::next_word() {
  if (!more()) refuse("the opcode is too short");
  return words_[word_++];
}

Type Decoder::maybe_type() {
  const Type found = more() ? type_named(words_[word_]) : Type{};
  if (found) ++word_;
  return found;
}

Type Decoder::type() {
  const Type found = maybe_type();
  if (!found)
    refuse(more() ? "unsupported modifier '." + std::string(words_[word_]) + "'"
                  : "a type is missing");
  return found;
}

const Operand& Decoder::operand(size_t index) const {
  if (index >= operands()) refuse("operands are missing");
  return statement_->operands[index];
}

void Decoder::want_operands(size_t least, size_t most) const {
  if (operands() < least || operands() > most)
    refuse(std::to_string(operands()) + " operands were given; expected " +
           (least == most ? "" : std::to_string(least) + " to ") + std::to_string(most));
}

bool Decoder::find_register(std::string_view name, Type& type, uint32_t& place) const {
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  int number = 0;
  for (size_t i = digits; i < name.size() && number < 1 << 24; ++i)
    number = 10 * number + (name[i] - '0');
  for (int at = statement_->scope; at >= 0;) {
    const Scope& scope = code_.routine->scopes[static_cast<size_t>(at)];
    auto found = scope.registers.find(name);
    int offset = 0;
    if (found == scope.registers.end() || found->second.count >= 0) {
      found = scope.registers.find(name.substr(0, digits));
      offset = number;
      if (digits == name.size() || found == scope.registers.end() || number >= found->second.count)
        found = scope.registers.end();
    }
    if (found != scope.registers.end()) {
      type = found->second.type;
      place = register_places_[static_cast<size_t>(found->second.first + offset)];
      return true;
    }
    at = scope.parent;
  }
  return false;
}

uint8_t Decoder::width(const Operand& operand, Type type) const {
  Type found;
  uint32_t place = 0;
  if (operand.form == Operand::Form::kName && find_register(operand.name, found, place))
    return found.bytes;
  return type.bytes;
}

uint32_t Decoder::constant(uint64_t bits, unsigned bytes) {
  if (bytes < 8) bits &= (uint64_t{1} << (8 * bytes)) - 1;
  const auto key = std::make_pair(bits, bytes);
  const auto found = constants_.find(key);
  if (found != constants_.end()) return found->second;
  const size_t first = code_.constants.size();
  code_.constants.resize(first + kLanes * std::max(bytes, 1u) / 8, 0);
  auto* place = reinterpret_cast<uint8_t*>(&code_.constants[first]);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    std::memcpy(place + lane * bytes, &bits, std::min(bytes, 8u));
  return constants_[key] = static_cast<uint32_t>(first * 8) | kInConstants;
}

bool Decoder::is_predicate(const Operand& operand) const {
  Type type;
  uint32_t place = 0;
  return operand.form == Operand::Form::kName && find_register(operand.name, type, place) &&
         type.kind == Kind::kPredicate;
}

uint32_t Decoder::predicate(const Operand& operand) {
  if (operand.form == Operand::Form::kSink) return scratch(1);
  if (operand.form == Operand::Form::kInteger) return constant(operand.bits ? ~uint64_t{0} : 0, 4);
  Type type;
  uint32_t place = 0;
  if (operand.form != Operand::Form::kName || !find_register(operand.name, type, place) ||
      type.kind != Kind::kPredicate)
    refuse("'" + std::string(operand.name) + "' is not a predicate");
  return place;
}

uint32_t Decoder::read(const Operand& operand, Type type, bool wider) {
  if (type.kind == Kind::kPredicate) {
    if (operand.negated) refuse("a negated predicate is not supported");
    return predicate(operand);
  }
  switch (operand.form) {
    case Operand::Form::kInteger: {
      if (type.is_integer() || type.kind == Kind::kNone) return constant(operand.bits, type.bytes);
      return constant(operand.bits, type.bytes);
    }
    case Operand::Form::kFloat: {
      if (operand.single == (type.bytes == 4)) return constant(operand.bits, type.bytes);
      if (operand.single) {
        float narrow;
        std::memcpy(&narrow, &operand.bits, sizeof narrow);
        const double wide = narrow;
        uint64_t bits;
        std::memcpy(&bits, &wide, sizeof bits);
        if (type.bytes == 8) return constant(bits, 8);
      } else if (type.bytes == 4) {
        double wide;
        std::memcpy(&wide, &operand.bits, sizeof wide);
        const auto narrow = static_cast<float>(wide);
        uint32_t bits;
        std::memcpy(&bits, &narrow, sizeof bits);
        return constant(bits, 4);
      }
      refuse("a float literal has the wrong size");
    }
    case Operand::Form::kName: {
      Type found;
      uint32_t place = 0;
      if (find_register(operand.name, found, place)) {
        if (found.kind == Kind::kPredicate || found.bytes < type.bytes ||
            (found.bytes > type.bytes && !wider))
          refuse("register '" + std::string(operand.name) + "' has the wrong size");
        return place;
      }
      if (operand.name == "WARP_SZ") return constant(kLanes, type.bytes);
      if (operand.name[0] == '%') return special(operand.name, type);
      uint64_t value = 0;
      if (symbol(operand, value)) return constant(value, type.bytes);
      refuse("'" + std::string(operand.name) + "' is not declared");
    }
    default:
      refuse("the form of an operand is not supported");
  }
}

uint32_t Decoder::write(const Operand& operand, Type type, bool wider) {
  if (operand.form == Operand::Form::kSink) return scratch(std::max<unsigned>(type.bytes, 8));
  if (type.kind == Kind::kPredicate) return predicate(operand);
  Type found;
  uint32_t place = 0;
  if (operand.form != Operand::Form::kName || !find_register(operand.name, found, place))
    refuse("the result must be a register");
  if (found.kind == Kind::kPredicate || found.bytes < type.bytes ||
      (found.bytes > type.bytes && !wider))
    refuse("register '" + std::string(operand.name) + "' has the wrong size");
  return place;
}

uint64_t Decoder::literal(size_t index) const {
  const Operand& found = operand(index);
  if (found.form != Operand::Form::kInteger) refuse("expected an integer");
  return found.bits;
}

void Decoder::address(const Operand& operand) {
  if (operand.form != Operand::Form::kAddress || !operand.parts.empty())
    refuse("expected an address");
  out.plus = static_cast<int64_t>(operand.bits);
  if (operand.name.empty()) {
    out.a = constant(0, 8);
    out.a_bytes = 8;
    return;
  }
  Operand base = operand;
  base.form = Operand::Form::kName;
  base.bits = 0;
  const Type wide{Kind::kUnsigned, 8};
  out.a_bytes = width(base, wide);
  if (out.a_bytes != 4 && out.a_bytes != 8) refuse("an address has the wrong size");
  out.a = read(base, Type{Kind::kUnsigned, out.a_bytes});
}

uint32_t Decoder::scratch(unsigned bytes) {
  const uint32_t place = code_.frame_bytes;
  code_.frame_bytes += kLanes * bytes;
  return place | kInFrame;
}

Extra& Decoder::extra() {
  if (out.extra < 0) {
    out.extra = static_cast<int32_t>(code_.extras.size());
    code_.extras.emplace_back();
  }
  return code_.extras[static_cast<size_t>(out.extra)];
}

int32_t Decoder::label(std::string_view name) const {
  for (int at = statement_->scope; at >= 0;) {
    const Scope& scope = code_.routine->scopes[static_cast<size_t>(at)];
    const auto found = scope.labels.find(name);
    if (found != scope.labels.end()) return found->second;
    at = scope.parent;
  }
  refuse("unknown label '" + std::string(name) + "'");
}

const std::vector<std::string_view>& Decoder::label_list(std::string_view name) const {
  for (int at = statement_->scope; at >= 0;) {
    const Scope& scope = code_.routine->scopes[static_cast<size_t>(at)];
    const auto found = scope.label_lists.find(name);
    if (found != scope.label_lists.end()) return found->second;
    at = scope.parent;
  }
  refuse("unknown list of labels '" + std::string(name) + "'");
}

uint32_t Decoder::special(std::string_view name, Type type) {
  const uint32_t place = place_of_special(name, type.bytes);
  if (place == kNoPlace)
    refuse("'" + std::string(name) + "' is neither a declared nor a special register");
  return place | kInWarp;
}

}  // namespace sim
