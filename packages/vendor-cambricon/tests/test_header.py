"""Tests of what is read from CNNL's header."""

from __future__ import annotations

from pathlib import Path

from processes import Processes

CHECKS = r"""
#include "operators/header.cpp"

#include "check.h"

using dl::cambricon::Header;

MAIN {
  const Header header = Header::parse(R"(
#define CNNL_IGNORED(x) \
  enum { CNNL_OF_MACRO = 5 };
/* enum { CNNL_OF_COMMENT = 6 }; */
typedef enum {
  CNNL_A,  /*!< First, of 2. */
  CNNL_B = 7,
  CNNL_C,
  CNNL_D = CNNL_B,  // as the second
  CNNL_E = 0x10,
  CNNL_F = 1 << 3,
  CNNL_G,
} cnnlLetter_t;
typedef enum cnnlOther { CNNL_LAST = -1 } cnnlOther_t;
cnnlStatus_t CNNL_WIN_API cnnlPlain(cnnlHandle_t handle,
                                    const int sizes[],
                                    void (*callback)(int, int));
cnnlStatus_t CNNL_WIN_API cnnlNone(void);
)");
  int64_t value = 0;
  const auto is = [&](const char* name, int64_t wanted) {
    return header.find(name, &value) && value == wanted;
  };
  CHECK(is("CNNL_A", 0) && is("CNNL_B", 7) && is("CNNL_C", 8) && is("CNNL_D", 7));
  CHECK(is("CNNL_E", 16) && is("CNNL_LAST", -1));
  // An expression is not evaluated, so what follows is unknown too.
  CHECK(!header.find("CNNL_F", &value) && !header.find("CNNL_G", &value));
  CHECK(!header.find("CNNL_OF_MACRO", &value) && !header.find("CNNL_OF_COMMENT", &value));
  CHECK(header.arguments_of("cnnlPlain") == 3 && header.arguments_of("cnnlNone") == 0);
  CHECK(header.arguments_of("cnnlUnknown") == -1);
  CHECK(Header::read("/nonexistent").is_empty() && Header::parse("").is_empty());
  // A torn header is read as far as it is whole.
  CHECK(Header::parse("int cnnlX(int a); typedef enum { CNNL_X").arguments_of("cnnlX") == 1);
}
"""


def test_enumerations_and_declarations_are_read(processes: Processes, tmp_path: Path) -> None:
    processes.run_checks(CHECKS, tmp_path)
