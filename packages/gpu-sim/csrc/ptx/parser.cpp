#include "parser.h"

#include <algorithm>

#include "cursor.h"
#include "statements.h"
#include "variables.h"

namespace sim {
namespace {

class ModuleParser {
 public:
  explicit ModuleParser(Module& module) : module_(module), cursor_(tokens_of(module.text)) {}

  void run() {
    while (!cursor_.ended()) item();
    if (module_.version == 0) cursor_.fail("not PTX: .version is missing");
  }

 private:
  void item() {
    const Token token = cursor_.peek();
    if (token.is(".version")) {
      cursor_.next();
      version();
    } else if (token.is(".target")) {
      cursor_.next();
      target();
    } else if (token.is(".address_size")) {
      cursor_.next();
      if (cursor_.integer() != 64) cursor_.fail("only PTX with .address_size 64 is supported");
    } else if (token.is(".file")) {
      cursor_.next();
      file();
    } else if (token.is(".section")) {
      skip_section();
    } else if (token.is(".alias")) {
      cursor_.next();
      alias();
    } else if (token.is(".pragma")) {
      while (!cursor_.take(";")) cursor_.next_or_fail();
    } else if (token.is(".loc")) {
      cursor_.skip_line();
    } else {
      definition();
    }
  }

  void version() {
    const Token number = cursor_.next();
    const std::string text(number.text);
    const size_t dot = text.find('.');
    if (number.kind != TokenKind::kFloat || dot == std::string::npos || text.size() > 8)
      cursor_.fail(number, "expected a version like 8.0 after .version");
    module_.version = 10 * std::atoi(text.c_str()) + std::atoi(text.c_str() + dot + 1);
  }

  void target() {
    const Token name = cursor_.peek();
    module_.target = cursor_.word();
    if (module_.target.substr(0, 3) != "sm_" || module_.architecture() == 0)
      cursor_.fail(name, "expected an architecture like sm_80 after .target");
    while (cursor_.take(",")) cursor_.word();
  }

  void file() {
    const auto index = static_cast<int>(cursor_.integer());
    const Token name = cursor_.next();
    if (name.kind != TokenKind::kString) cursor_.fail(name, "expected a file name");
    module_.files[index] = std::string(name.text);
    while (cursor_.take(",")) cursor_.next();
  }

  void alias() {
    const std::string_view name = cursor_.word();
    cursor_.expect(",");
    const std::string_view target = cursor_.word();
    cursor_.expect(";");
    const auto found = module_.routine_of.find(target);
    if (found == module_.routine_of.end())
      cursor_.fail("'" + std::string(target) + "' is not a function");
    module_.routine_of[name] = found->second;
  }

  /** Skip a section with debug information. */
  void skip_section() {
    while (!cursor_.peek().is("{")) cursor_.next_or_fail();
    while (!cursor_.take("}")) cursor_.next_or_fail();
  }

  void definition() {
    bool external = false;
    while (true) {
      if (cursor_.take(".extern")) {
        external = true;
      } else if (!cursor_.take(".visible") && !cursor_.take(".weak") && !cursor_.take(".common")) {
        break;
      }
    }
    const Token token = cursor_.peek();
    if (token.is(".entry") || token.is(".func")) {
      cursor_.next();
      routine(token.is(".entry"));
      return;
    }
    Variable found = variable_declaration(cursor_);
    if (found.space == Space::kParam || found.space == Space::kLocal)
      cursor_.fail(token, "a variable of this space must be in a function");
    found.external = external;
    add_variables(cursor_, found, [this](Variable one) { module_.variables.push_back(one); });
  }

  void routine(bool entry) {
    Routine made;
    made.entry = entry;
    made.line = cursor_.peek().line;
    if (!entry) {
      cursor_.take(".noreturn");
      if (cursor_.peek().is("(")) made.results = parameters(cursor_);
    }
    made.name = cursor_.word();
    if (cursor_.peek().is("(")) made.parameters = parameters(cursor_);
    while (!cursor_.peek().is("{") && !cursor_.peek().is(";")) attribute(made);
    if (!cursor_.take(";")) {
      StatementParser(module_, made, cursor_).body();
      made.defined = true;
    }
    const auto found = module_.routine_of.find(made.name);
    if (found == module_.routine_of.end()) {
      module_.routine_of[made.name] = static_cast<int>(module_.routines.size());
      module_.routines.push_back(std::move(made));
    } else if (made.defined) {
      Routine& known = module_.routines[static_cast<size_t>(found->second)];
      if (known.defined)
        throw PtxError(made.line, "'" + std::string(made.name) + "' is defined twice");
      known = std::move(made);
    }
  }

  void attribute(Routine& made) {
    const Token token = cursor_.next_or_fail();
    if (token.is(".maxntid") || token.is(".reqntid")) {
      auto& sizes = token.is(".maxntid") ? made.most_threads : made.required_threads;
      sizes = {1, 1, 1};
      size_t i = 0;
      do {
        if (i == 3) cursor_.fail(token, "a block has at most three sizes");
        sizes[i++] = static_cast<uint32_t>(cursor_.integer());
      } while (cursor_.take(","));
    } else if (token.is(".minnctapersm") || token.is(".maxnctapersm") || token.is(".maxnreg") ||
               token.is(".maxclusterrank")) {
      cursor_.integer();
    } else if (token.is(".pragma")) {
      cursor_.next();
      cursor_.expect(";");
    } else if (!token.is(".noreturn")) {
      cursor_.fail(token, "'" + std::string(token.text) +
                              "' is not an attribute of a function that "
                              "the simulator knows");
    }
  }

  Module& module_;
  Cursor cursor_;
};

}  // namespace

std::unique_ptr<Module> parse(std::string text) {
  auto module = std::make_unique<Module>();
  module->text = std::move(text);
  ModuleParser(*module).run();
  return module;
}

}  // namespace sim
