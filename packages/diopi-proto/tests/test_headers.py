"""The headers: valid C and C++, frozen signatures and layout, and behavior."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from diopi_proto import elf, schema
from diopi_proto._ffi_gen import ffi

ROOT = Path(__file__).resolve().parents[1]
INCLUDE = ROOT / "include"
ABI = ROOT / "tests" / "abi"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
VENDOR_FLAGS = ["-fPIC", "-shared", "-fvisibility=hidden", "-fno-gnu-unique", "-Wl,-z,defs"]
C_HEADERS = sorted(str(path.relative_to(INCLUDE)) for path in INCLUDE.glob("*/*.h"))
LANGUAGES = ["c", "c++"]
# For parts of this wheel, which always have the same version.
NOT_FROZEN = {
    *("dl_adaptor_count_t", "dl_adaptor_rule_t", "dl_opened_t", "dl_trial_request_t"),
    *("dl_added_library_t", "dl_added_row_t"),
    *("dl_legacy_library_t", "dl_legacy_rule_t", "dl_legacy_size_t"),
}
DIOPIRT_MODES = ["", "#define DIOPIRT_EXTERN\n", "#define DIOPI_EXPORT_SYMBOLS\n"]


def compiler(language: str) -> list[str]:
    name, standard = ("gcc", "-std=c11") if language == "c" else ("g++", "-std=c++17")
    command = os.environ.get("CC" if language == "c" else "CXX", name).split()
    if shutil.which(command[0]) is None:
        pytest.skip(f"no compiler {command[0]}")
    return [*command, standard, *WARNINGS, f"-I{INCLUDE}"]


def compile_text(
    text: str, language: str, folder: Path, *flags: str
) -> subprocess.CompletedProcess[str]:
    source = folder / ("source.c" if language == "c" else "source.cpp")
    source.write_text(text, encoding="utf-8")
    command = [*compiler(language), *flags, str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def run_program(source: Path, language: str, folder: Path) -> int:
    program = folder / "program"
    subprocess.run([*compiler(language), "-O1", str(source), "-o", str(program)], check=True)
    return subprocess.run([str(program)], check=False).returncode


def included(header: str, text: str) -> str:
    """Return code that includes ``header``; diopirt.h includes runtime_inline.h."""
    through = "diopi/diopirt.h" if header == "diopi/runtime_inline.h" else header
    return f'#include "{through}"\n{text}\n'


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("header", C_HEADERS)
def test_header_compiles_alone(header: str, language: str, tmp_path: Path) -> None:
    result = compile_text(included(header, "int main(void);"), language, tmp_path, "-fsyntax-only")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("mode", DIOPIRT_MODES)
def test_all_headers_compile_together_in_each_mode(
    mode: str, language: str, tmp_path: Path
) -> None:
    text = mode + "".join(included(header, "") for header in C_HEADERS)
    result = compile_text(text + "int main(void);\n", language, tmp_path, "-fsyntax-only")
    assert result.returncode == 0, result.stderr


def frozen_signatures() -> list[tuple[str, str, str, str]]:
    """Return fingerprint, return type, name and parameter types of each frozen signature."""
    lines = (ABI / "signatures.expected").read_text(encoding="utf-8").splitlines()
    matches = (
        re.fullmatch(r"([0-9a-f]{16}) (\w+) (\w+)\((.*)\)", line)
        for line in lines
        if not line.startswith("#")
    )
    return [match.groups() for match in matches if match]  # type: ignore[misc]


def signature_checks(signatures: list[tuple[str, str, str, str]]) -> str:
    headers = [
        f'#include "diopi/{p.name}"\n' for p in sorted((INCLUDE / "diopi").glob("functions*.h"))
    ]
    lines = ['#include <type_traits>\n#include "diopi/fingerprints.gen.h"\n', *headers]
    for mark, returns, name, types in signatures:
        lines.append(f"static_assert(std::is_same_v<decltype(&{name}), {returns} (*)({types})>);\n")
        lines.append(f"static_assert(DIOPI_FINGERPRINT_{name} == UINT64_C(0x{mark}));\n")
    return "".join(lines)


def test_every_declaration_has_its_frozen_signature(tmp_path: Path) -> None:
    signatures = frozen_signatures()
    assert {name for _, _, name, _ in signatures} == set(schema.load())
    result = compile_text(signature_checks(signatures), "c++", tmp_path, "-fsyntax-only")
    assert result.returncode == 0, result.stderr


def test_signature_check_notices_a_changed_type(tmp_path: Path) -> None:
    mark, returns, name, types = next(s for s in frozen_signatures() if s[2] == "diopiAdamW")
    changed = (mark, returns, name, types.replace("float", "double", 1))
    result = compile_text(signature_checks([changed]), "c++", tmp_path, "-fsyntax-only")
    assert result.returncode != 0
    assert "diopiAdamW" in result.stderr


def test_layout_is_frozen(tmp_path: Path) -> None:
    command = [*compiler("c"), "-c", str(ABI / "layout.c"), "-o", str(tmp_path / "layout.o")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_layout_check_covers_every_field() -> None:
    checked = set(re.findall(r"^AT\((\w+), (\w+),", (ABI / "layout.c").read_text(), re.MULTILINE))
    for name, fields in structs().items():
        if name in NOT_FROZEN:
            continue
        missing = {field for field, _ in fields} - {field for s, field in checked if s == name}
        assert not missing, f"{name}: {missing}"


def structs() -> dict[str, list[tuple[str, int]]]:
    """Yield every complete struct of cffi with its field offsets; unions are flattened."""
    found: dict[str, list[tuple[str, int]]] = {}
    for name in ffi.list_types()[0]:
        ctype = ffi.typeof(name)
        if ctype.kind != "struct" or ctype.fields is None:
            continue
        found[name] = []
        for field, info in ctype.fields:
            members = info.type.fields if field == "" else [(field, None)]
            for member, inner in members:
                found[name].append((member, info.offset + (inner.offset if inner else 0)))
    return found


def test_cffi_and_the_compiler_agree_on_the_layout(tmp_path: Path) -> None:
    known = structs()
    assert {"diopiScalar_t", "dl_tensor_prefix_t", "dl_vendor_table_t"} <= known.keys()
    lines = [included(header, "") for header in C_HEADERS]
    for name, fields in known.items():
        lines.append(f'_Static_assert(sizeof({name}) == {ffi.sizeof(name)}, "{name}");\n')
        for field, offset in fields:
            check = f"offsetof({name}, {field}) == {offset}"
            lines.append(f'_Static_assert({check}, "{name}.{field}");\n')
    result = compile_text("".join(lines), "c", tmp_path, "-fsyntax-only")
    assert result.returncode == 0, result.stderr


def test_inline_getters_check_handles_and_versions(tmp_path: Path) -> None:
    assert run_program(ABI / "getters.c", "c", tmp_path) == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_formats_are_read_from_strides_and_flags(language: str, tmp_path: Path) -> None:
    source = tmp_path / ("formats.c" if language == "c" else "formats.cpp")
    shutil.copy(ABI / "formats.c", source)
    assert run_program(source, language, tmp_path) == 0


def test_operator_shims_guard_the_vendor_function(tmp_path: Path) -> None:
    assert run_program(ABI / "shims.cpp", "c++", tmp_path) == 0


def test_operator_entry_refuses_a_function_of_another_type(tmp_path: Path) -> None:
    text = """#include "dl/operator.hpp"
namespace sample {
diopiError_t diopiRelu(diopiContextHandle_t, diopiTensorHandle_t, int64_t);
}
extern const dl_operator_t kEntry = DL_OPERATOR(sample, diopiRelu);
"""
    result = compile_text(text, "c++", tmp_path, "-fsyntax-only")
    assert result.returncode != 0
    assert "does not have the type that its header in diopi/ declares" in result.stderr


C_ENTRY = """#include "dl/operator.h"
static diopiError_t rectify(diopiContextHandle_t ctx, diopiTensorHandle_t out, INPUT input) {
  (void)ctx, (void)out, (void)input;
  return diopiSuccess;
}
extern const dl_operator_t kEntries[];
const dl_operator_t kEntries[] = {DL_C_OPERATOR_BY(rectify, diopiRelu)};
"""


@pytest.mark.parametrize("input_type", ["diopiConstTensorHandle_t", "int64_t", "void*"])
def test_operator_entry_in_c_checks_the_type_of_a_function(input_type: str, tmp_path: Path) -> None:
    result = compile_text(C_ENTRY.replace("INPUT", input_type), "c", tmp_path, "-fsyntax-only")
    if input_type == "diopiConstTensorHandle_t":
        assert result.returncode == 0, result.stderr
        return
    assert result.returncode != 0
    message = "[diopiRelu] rectify does not have the type that its header in diopi/ declares"
    assert message in result.stderr.replace('\\"', "").replace('" "', "")


def test_operator_entries_need_no_code_at_load_and_leave_no_symbol(tmp_path: Path) -> None:
    text = """#include "dl/operator.hpp"
namespace sample {
diopiError_t diopiRelu(diopiContextHandle_t, diopiTensorHandle_t out, diopiConstTensorHandle_t) {
  void* data = nullptr;
  return diopiGetTensorData(out, &data);
}
}
static const dl_operator_t kEntries[] = {DL_OPERATOR(sample, diopiRelu)};
extern "C" DL_EXPORT const dl_operator_t* entries();
const dl_operator_t* entries() { return kEntries; }
"""
    library = tmp_path / "vendor.so"
    result = compile_text(text, "c++", tmp_path, "-O1", *VENDOR_FLAGS, "-o", str(library))
    assert result.returncode == 0, result.stderr
    assert elf.read_elf(library).exported == {"entries"}
    assert not elf.read_elf(library).unique
    result = compile_text(text, "c++", tmp_path, "-O1", "-c", "-o", str(tmp_path / "object.o"))
    assert result.returncode == 0, result.stderr
    # g++'s name for static initializers.
    assert b"_GLOBAL__sub_I" not in (tmp_path / "object.o").read_bytes()


def test_libdiopirt_exports_the_runtime_functions_and_nothing_else(tmp_path: Path) -> None:
    library = tmp_path / "libdiopirt.so.1"
    flags = [*VENDOR_FLAGS, "-O1", "-o", str(library)]
    command = [*compiler("c"), str(ROOT / "csrc" / "diopirt.c"), *flags]
    subprocess.run(command, check=True)
    header = (INCLUDE / "diopi" / "diopirt.h").read_text(encoding="utf-8")
    runtime = set(re.findall(r"DIOPI_RT_API [\w ]+\*? ?(diopi\w+)\(", header))
    assert len(runtime) == 27
    assert elf.read_elf(library).exported == runtime | {"diopirt_set_current_context"}


def test_libdiopirt_keeps_a_context_per_thread(tmp_path: Path) -> None:
    library = tmp_path / "libdiopirt.so.1"
    flags = [*VENDOR_FLAGS, "-O1", "-o", str(library)]
    subprocess.run([*compiler("c"), str(ROOT / "csrc" / "diopirt.c"), *flags], check=True)
    runtime = ffi.dlopen(str(library))
    index = ffi.new("diopiDeviceIndex_t*", -1)
    assert runtime.diopiGetCurrentDeviceIndex(index) == runtime.diopiErrorOccurred
    context = ffi.new("dl_context_prefix_t*")
    context.magic, context.version = runtime.DL_CONTEXT_MAGIC, runtime.DL_PREFIX_VERSION
    context.device_index = 4
    handle = ffi.cast("diopiContextHandle_t", context)
    assert runtime.diopirt_set_current_context(handle) == ffi.NULL
    assert runtime.diopiGetCurrentDeviceIndex(index) == runtime.diopiSuccess
    assert index[0] == 4
    assert runtime.diopirt_set_current_context(ffi.NULL) == handle


def test_vendor_library_with_inline_getters_needs_no_library_of_ours(tmp_path: Path) -> None:
    text = """#include "diopi/diopirt.h"
DL_EXPORT diopiError_t stream_of(diopiContextHandle_t ctx, void** out);
diopiError_t stream_of(diopiContextHandle_t ctx, void** out) { return diopiGetStream(ctx, out); }
"""
    library = tmp_path / "vendor.so"
    result = compile_text(text, "c", tmp_path, "-O1", *VENDOR_FLAGS, "-o", str(library))
    assert result.returncode == 0, result.stderr
    assert elf.read_elf(library).exported == {"stream_of"}
    assert not [name for name in elf.read_elf(library).undefined if "diopi" in name]
    assert not [name for name in elf.read_elf(library).needed if "diopi" in name]


def test_every_operator_has_a_fingerprint_macro() -> None:
    text = (INCLUDE / "diopi" / "fingerprints.gen.h").read_text(encoding="utf-8")
    found = dict(re.findall(r"#define DIOPI_FINGERPRINT_(\w+) UINT64_C\(0x([0-9a-f]{16})\)", text))
    operators = schema.load()
    assert found == {name: f"{op.fingerprint:016x}" for name, op in operators.items()}
