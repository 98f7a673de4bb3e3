"""The build helper: its results, its errors, and incremental compilation."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from cffi import FFI

import diopi_proto
from diopi_proto import BuildError
from diopi_proto.build import DeviceCompiler, check_library, compile_library
from diopi_proto.elf import read_elf
from diopi_proto.vendorbuild import rules

FIXTURES = Path(__file__).parent / "fixtures"
INCLUDE = f"-I{diopi_proto.include_dir()}"
EXPORTS = ("dl_vendor_v1", "fixture_*")


def _counter(path: Path) -> Any:
    ffi = FFI()
    ffi.cdef("int fixture_count(void);")
    return ffi.dlopen(str(path), ffi.RTLD_NOW | ffi.RTLD_LOCAL)


def _by_hand(path: Path, source: Path, *flags: str) -> Path:
    compiler = "g++" if source.suffix == ".cpp" else "gcc"
    subprocess.run(
        [compiler, "-shared", "-fPIC", INCLUDE, str(source), "-o", str(path), *flags], check=True
    )
    return path


def test_inline_statics_are_not_shared_between_two_libraries(tmp_path: Path) -> None:
    names = [tmp_path / "a.so", tmp_path / "b.so"]
    built = [compile_library(n, [FIXTURES / "statics.cpp"], exports=EXPORTS) for n in names]
    one, two = map(_counter, built)
    assert [one.fixture_count(), one.fixture_count(), two.fixture_count()] == [1, 2, 1]


def test_without_the_rules_they_are_shared_and_the_check_says_so(tmp_path: Path) -> None:
    names = [tmp_path / "a.so", tmp_path / "b.so"]
    built = [_by_hand(name, FIXTURES / "statics.cpp") for name in names]
    one, two = map(_counter, built)
    assert [one.fixture_count(), one.fixture_count(), two.fixture_count()] == [1, 2, 3]
    with pytest.raises(BuildError, match=r"UNIQUE symbols.*-fno-gnu-unique"):
        check_library(built[0], exports=EXPORTS)


def test_only_the_entry_symbol_is_exported(tmp_path: Path) -> None:
    path = compile_library(tmp_path / "libx.so", [FIXTURES / "statics.cpp"])
    assert read_elf(path).exported == {"dl_vendor_v1"}


def test_the_standard_librarys_templates_are_an_export_too_many(tmp_path: Path) -> None:
    flags = ("-fvisibility=hidden", "-fno-gnu-unique")
    path = _by_hand(tmp_path / "libx.so", FIXTURES / "statics.cpp", *flags)
    with pytest.raises(BuildError, match=r"exports more than.*version script"):
        check_library(path, exports=EXPORTS)


@pytest.mark.parametrize(
    ("source", "flags", "complaint"),
    [
        ("int other(void) { return 0; }", (), "does not export dl_vendor_v1"),
        (
            "int f(void); int dl_vendor_v1(void) { return f(); }",
            ("-Df=diopiAdd",),
            "diopiAdd undefined",
        ),
        (
            "int f(void); int dl_vendor_v1(void) { return f(); }",
            ("-Df=PyList_New",),
            "PyList_New undef",
        ),
        ("int dl_vendor_v1(void) { return 0; }", ("-Wl,-rpath,/opt/x",), "/opt/x"),
    ],
)
def test_broken_rules_are_named(
    tmp_path: Path, source: str, flags: tuple[str, ...], complaint: str
) -> None:
    file = tmp_path / "x.c"
    file.write_text(source)
    path = _by_hand(tmp_path / "libx.so", file, *flags)
    with pytest.raises(BuildError, match=complaint):
        check_library(path, exports=("dl_vendor_v1", "other*"))


@pytest.mark.parametrize(
    "name", ["libtorch.so", "libpython3.11.so.1.0", "libdl_core.so", "libdiopirt.so.1"]
)
def test_libraries_that_a_vendor_must_not_need(tmp_path: Path, name: str) -> None:
    stub = tmp_path / name
    subprocess.run(
        ["gcc", "-shared", "-x", "c", "/dev/null", "-o", str(stub), f"-Wl,-soname,{name}"],
        check=True,
    )
    file = tmp_path / "x.c"
    file.write_text("int dl_vendor_v1(void) { return 0; }")
    path = _by_hand(tmp_path / "libx.so", file, "-Wl,--no-as-needed", str(stub))
    with pytest.raises(BuildError, match=f"needs {name}"):
        check_library(path)


def test_a_refused_library_does_not_replace_a_good_one(tmp_path: Path) -> None:
    source, path = tmp_path / "x.c", tmp_path / "libx.so"
    good = '__attribute__((visibility("default"))) int dl_vendor_v1(void) { return 0; }\n'
    source.write_text(good)
    compile_library(path, [source])
    before = path.read_bytes()
    source.write_text(good.replace("dl_vendor_v1", "dl_vendor_v0"))
    with pytest.raises(BuildError, match="does not export"):
        compile_library(path, [source])
    assert path.read_bytes() == before
    assert set(tmp_path.iterdir()) == {source, path}


def test_undefined_functions_are_link_errors_except_in_legacy_libraries(tmp_path: Path) -> None:
    source = tmp_path / "x.c"
    source.write_text(
        "int diopiGetVersion(void);\n"
        '__attribute__((visibility("default"))) int diopiAdd(void) { return diopiGetVersion(); }\n'
    )
    with pytest.raises(BuildError, match="linking"):
        compile_library(tmp_path / "libx.so", [source], exports=("diopi*",))
    path = compile_library(tmp_path / "libx.so", [source], exports=("diopi*",), legacy=True)
    assert read_elf(path).exported == {"diopiAdd"}


def test_errors_show_the_compilers_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "x.cpp"
    source.write_text("int f() { return nonsense; }\n")
    with pytest.raises(BuildError, match=r"compiling x\.cpp failed:(.|\n)*nonsense"):
        compile_library(tmp_path / "libx.so", [source])
    with pytest.raises(BuildError, match=r"neither C nor C\+\+"):
        compile_library(tmp_path / "libx.so", [tmp_path / "x.f90"])
    with pytest.raises(BuildError, match="no sources"):
        compile_library(tmp_path / "libx.so", [])
    monkeypatch.setenv("CXX", "no-such-compiler -x")
    with pytest.raises(BuildError, match=r"cannot run 'no-such-compiler'.*set CC and CXX"):
        compile_library(tmp_path / "libx.so", [source])


def test_only_what_changed_is_compiled_again(tmp_path: Path) -> None:
    header, one, two = tmp_path / "h.h", tmp_path / "one.c", tmp_path / "two.c"
    header.write_text("#define VALUE 1\n")
    one.write_text(
        '#include "h.h"\n#include "dl/base.h"\nDL_EXPORT int dl_vendor_v1(void) { return VALUE; }\n'
    )
    two.write_text("int two(void) { return 2; }\n")
    objects = tmp_path / "objects"

    def build(*flags: str) -> dict[str, int]:
        compile_library(tmp_path / "x.so", [one, two], build_dir=objects, compile_flags=flags)
        return {p.stem.split("-")[0]: p.stat().st_mtime_ns for p in objects.glob("*.o")}

    first = build()
    assert build() == first
    header.write_text("#define VALUE 3\n")
    second = build()
    assert second["one"] != first["one"]
    assert second["two"] == first["two"]
    third = build("-O0")
    assert third["one"] != second["one"]
    assert third["two"] != second["two"]


def test_flags_of_the_caller_win(tmp_path: Path) -> None:
    source = tmp_path / "x.cpp"
    source.write_text(
        '#ifndef __OPTIMIZE__\nextern "C" __attribute__((visibility("default"))) '
        "int dl_vendor_v1() { return __cplusplus == 201703L ? 1 : throw 1; }\n#endif\n"
    )
    assert compile_library(tmp_path / "x.so", [source], compile_flags=["-O0"]).is_file()


@pytest.fixture
def device_compiler(tmp_path: Path) -> DeviceCompiler:
    """Fake device compiler with nvcc's interface: g++, which logs its arguments."""
    script = tmp_path / "devcc"
    script.write_text(
        "#!/bin/sh\n"
        f'echo "$*" >> {tmp_path}/calls\n'
        "for word; do\n"
        '  shift; case "$word" in -arch=*|-Xcompiler=*) ;; *) set -- "$@" "$word";; esac\n'
        "done\n"
        'exec g++ -x c++ -fPIC -fvisibility=hidden "$@"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    return DeviceCompiler("devcc", (str(script),), ".dev", flags=("-arch=best",))


def test_a_device_compiler_compiles_the_sources_of_its_suffix(
    tmp_path: Path, device_compiler: DeviceCompiler
) -> None:
    host, device = tmp_path / "host.cpp", tmp_path / "device.dev"
    exported = 'extern "C" __attribute__((visibility("default")))'
    host.write_text(f"int answer();\n{exported} int dl_vendor_v1() {{ return answer(); }}")
    device.write_text("int answer() { return ANSWER; }")
    arguments: dict[str, Any] = {
        "device_compiler": device_compiler,
        "macros": ["-DANSWER=42"],
        "compile_flags": ["-Wall", "-Wextra"],
        "build_dir": tmp_path / "build",
    }
    library = compile_library(tmp_path / "x.so", [host, device], **arguments)
    assert read_elf(library).exported == {"dl_vendor_v1"}
    (call,) = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    assert call.startswith("-std=c++17 -Xcompiler=")
    assert {"-arch=best", "-DANSWER=42"} <= set(call.split())
    assert "-fno-gnu-unique" in call and "-Wextra" not in call and "-O3" not in call
    compile_library(tmp_path / "x.so", [host, device], **arguments)
    assert len((tmp_path / "calls").read_text(encoding="utf-8").splitlines()) == 1


def test_a_device_compiler_made_from_clang_takes_the_flags_that_it_knows() -> None:
    clang = DeviceCompiler("x", ("xcc",), ".dev", host_flag="", unknown=("-fno-gnu-unique",))
    flags = clang.compile_command()
    assert "-fvisibility=hidden" in flags and "-fno-gnu-unique" not in flags


def test_what_took_longest_begins_first(tmp_path: Path, device_compiler: DeviceCompiler) -> None:
    sources = [tmp_path / f"{name}.dev" for name in ("a", "b", "c")]
    for source in sources:
        source.write_text(f'extern "C" int fixture_{source.stem}() {{ return ANSWER; }}')
    objects = tmp_path / "build"

    def build(answer: int) -> list[str]:
        compile_library(
            tmp_path / "x.so",
            sources,
            exports=("fixture_*",),
            macros=[f"-DANSWER={answer}"],
            device_compiler=device_compiler,
            build_dir=objects,
            jobs=1,
        )
        calls = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()[-3:]
        return [Path(call.split()[-3]).stem for call in calls]

    assert build(1) == ["a", "b", "c"]
    for seconds, name in ((1, "a"), (3, "b"), (2, "c")):
        (record,) = objects.glob(f"{name}-*.seconds")
        record.write_text(str(seconds), encoding="utf-8")
    assert build(2) == ["b", "c", "a"]


def test_without_a_device_compiler_its_sources_are_unknown(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="Other suffixes need a device_compiler"):
        compile_library(tmp_path / "x.so", [tmp_path / "x.cu"])


def test_cmake_has_the_same_rules() -> None:
    text = (diopi_proto.cmake_dir() / "dl-vendor.cmake").read_text()
    flags = {
        name: tuple(words.split())
        for name, words in re.findall(r"set\(DL_(\w+_FLAGS) (.*)\)", text)
    }
    assert flags == {
        name: getattr(rules, name)
        for name in ("COMMON_FLAGS", "C_FLAGS", "CXX_FLAGS", "LINK_FLAGS", "COMPLETE_FLAGS")
    }


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")
def test_cmake_builds_a_library_that_passes_the_check(tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "statics.cpp", tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.18)\n"
        "project(x LANGUAGES C CXX)\n"
        f'include("{diopi_proto.cmake_dir() / "dl-vendor.cmake"}")\n'
        "dl_vendor_library(dl_vendor_x SOURCES statics.cpp)\n"
    )
    for command in (["-S", ".", "-B", "out"], ["--build", "out"]):
        subprocess.run(["cmake", *command], cwd=tmp_path, check=True, capture_output=True)
    elf = check_library(tmp_path / "out" / "libdl_vendor_x.so")
    assert elf.soname is None


@pytest.fixture
def project(tmp_path: Path) -> Path:
    package = tmp_path / "src" / "dl_vendor_x"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (tmp_path / "csrc").mkdir()
    shutil.copy(FIXTURES / "statics.cpp", tmp_path / "csrc" / "plugin.cpp")
    (tmp_path / "setup.py").write_text(
        "from setuptools import setup\n"
        "from diopi_proto.build import VendorLibrary, build_vendor_library\n"
        "setup(name='dl-vendor-x', version='1.0',\n"
        "      package_dir={'': 'src'}, packages=['dl_vendor_x'],\n"
        "      ext_modules=[VendorLibrary('dl_vendor_x.lib.libdl_vendor_x', ['csrc/plugin.cpp'],\n"
        "                                 extra_compile_args=['-O1'],\n"
        "                                 define_macros=[('X', '1')])],\n"
        "      cmdclass={'build_ext': build_vendor_library})\n"
    )
    return tmp_path


def _setup(project: Path, *command: str) -> None:
    source = str(Path(diopi_proto.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "setup.py", "-q", *command],
        cwd=project,
        env={"PYTHONPATH": source, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_vendors_wheel_holds_the_library_and_fits_every_python(project: Path) -> None:
    _setup(project, "bdist_wheel")
    (wheel,) = (project / "dist").iterdir()
    assert re.fullmatch(r"dl_vendor_x-1\.0-py3-none-linux_\w+\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read("dl_vendor_x-1.0.dist-info/WHEEL").decode()
    assert "dl_vendor_x/lib/libdl_vendor_x.so" in names
    assert "Root-Is-Purelib: false" in metadata
    assert "Tag: py3-none-linux_" in metadata


def test_a_vendor_can_be_built_in_place(project: Path) -> None:
    _setup(project, "build_ext", "--inplace")
    built = project / "src" / "dl_vendor_x" / "lib" / "libdl_vendor_x.so"
    assert check_library(built).exported == {"dl_vendor_v1"}
