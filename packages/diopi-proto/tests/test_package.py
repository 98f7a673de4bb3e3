"""The package as a wheel and as a source checkout, and the example of its README."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import diopi_proto

PACKAGE = Path(__file__).parent.parent
Compile = Callable[..., Path]


def _run(*command: str, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("wheel")
    ignored = shutil.ignore_patterns("build", "dist", "*.egg-info", "__pycache__", "lib", "tests")
    source = root / "source"
    shutil.copytree(PACKAGE, source, ignore=ignored)
    _run("-W", "ignore", "setup.py", "-q", "bdist_wheel", "-d", str(root), cwd=source)
    (built,) = root.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install a pure wheel: put its files on sys.path."""
    target = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


def test_the_wheel_fits_every_python(wheel: Path) -> None:
    assert re.fullmatch(r"dl_diopi_proto-[\d.]+-py3-none-linux_\w+\.whl", wheel.name)


def test_the_wheel_holds_headers_schema_runtime_and_cmake(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    headers = {p.relative_to(PACKAGE).as_posix() for p in (PACKAGE / "include").rglob("*.h*")}
    assert headers
    assert {f"diopi_proto/{name}" for name in headers} <= names
    modules = {p.relative_to(PACKAGE / "src").as_posix() for p in (PACKAGE / "src").rglob("*.py")}
    assert modules <= names
    assert {
        "diopi_proto/_schema_gen.json",
        "diopi_proto/py.typed",
        "diopi_proto/lib/libdiopirt.so.1",
        "diopi_proto/lib/libdl_host.so",
        "diopi_proto/cmake/dl-vendor.cmake",
    } <= names


def test_the_sdist_holds_all_that_builds_it(wheel: Path, tmp_path: Path) -> None:
    source = wheel.parent / "source"
    _run("-W", "ignore", "setup.py", "-q", "sdist", "-d", str(tmp_path), cwd=source)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    folders = ("csrc", "include", "schema", "src")
    expected = {
        path.relative_to(source).as_posix()
        for folder in folders
        for path in (source / folder).rglob("*")
        if path.suffix in (".c", ".h", ".hpp", ".yaml", ".py", ".json", ".cmake")
    }
    assert expected <= names
    assert {"setup.py", "pyproject.toml", "README.md", "CHANGELOG.md"} <= names
    assert not [name for name in names if name.endswith((".so", ".so.1", ".pyc"))]


def test_the_wheel_needs_numpy_and_cffi_only(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("METADATA"))
        metadata = archive.read(name).decode()
    needed = re.findall(r"^Requires-Dist: ([\w-]+)[^;\n]*$", metadata, re.MULTILINE)
    assert sorted(needed) == ["cffi", "numpy"]
    assert "License-Expression: Apache-2.0" in metadata
    assert f"Version: {diopi_proto.__version__}" in metadata


def test_an_installed_package_finds_its_files_and_compiles_and_loads(
    installed: Path, tmp_path: Path
) -> None:
    fixtures = Path(__file__).parent / "fixtures"
    script = f"""
import diopi_proto
from pathlib import Path
from diopi_proto.build import compile_library
from diopi_proto.loading import load_runtime
assert Path(diopi_proto.__file__).is_relative_to({str(installed)!r})
assert diopi_proto.include_dir().is_relative_to({str(installed)!r})
path = compile_library({str(tmp_path / "libx.so")!r}, [{str(fixtures / "vendor.cpp")!r}],
                       exports=("dl_vendor_v1", "fixture_*"), compile_flags=["-O0"])
with diopi_proto.load_vendor(path, probe=True) as vendor:
    print(vendor.name)
path = compile_library({str(tmp_path / "libold.so")!r}, [{str(fixtures / "legacy.c")!r}],
                       exports=("diopi*",), legacy=True, compile_flags=["-DFIXTURE_NUMBER=4"])
assert diopi_proto.probe_library(path, legacy=True).ok
with diopi_proto.load_vendor(path, legacy=True) as vendor:
    print(vendor.op.Nonzero(vendor.empty((1,))).numpy().ravel())
"""
    out = _run("-c", script, cwd=tmp_path, PYTHONPATH=str(installed))
    assert out.split("\n")[:2] == ["fixture", "[4. 4. 4. 4.]"]


def test_a_checkout_finds_its_headers(tmp_path: Path) -> None:
    script = "import diopi_proto; print(diopi_proto.include_dir() / 'dl' / 'vendor.h')"
    out = _run("-c", script, cwd=tmp_path, PYTHONPATH=str(PACKAGE / "src"))
    assert Path(out.strip()) == PACKAGE / "include" / "dl" / "vendor.h"


def test_importing_loads_neither_numpy_nor_cffi_nor_torch(tmp_path: Path) -> None:
    script = (
        "import sys, diopi_proto\n"
        "diopi_proto.VendorDescriptor, diopi_proto.include_dir()\n"
        "heavy = {'numpy', 'cffi', '_cffi_backend', 'torch', 'setuptools'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    source = str(Path(diopi_proto.__file__).parents[1])
    assert _run("-c", script, cwd=tmp_path, PYTHONPATH=source).strip() == "[]"


def test_operators_in_diopis_own_style_need_no_host(tmp_path: Path) -> None:
    script = (
        "import sys, diopi_proto.legacy\n"
        "print([name for name in sys.modules if name.startswith('diopi_proto.host')])\n"
    )
    source = str(Path(diopi_proto.__file__).parents[1])
    assert _run("-c", script, cwd=tmp_path, PYTHONPATH=source).strip() == "[]"


def test_the_host_never_imports_torch(build: Compile, tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "sys.modules['torch'] = None\n"  # importing it now raises
        "from diopi_proto import load_vendor\n"
        f"load_vendor({str(build('vendor.cpp'))!r}).close()\n"
    )
    source = str(Path(diopi_proto.__file__).parents[1])
    _run("-c", script, cwd=tmp_path, PYTHONPATH=source)


def test_everything_public_is_there() -> None:
    for name in diopi_proto.__all__:
        assert getattr(diopi_proto, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        diopi_proto.nothing  # noqa: B018


def test_the_readmes_examples_run(
    build: Compile,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    examples = re.findall(
        r"^```python\n(.*?)^```", (PACKAGE / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
    monkeypatch.chdir(tmp_path)
    wanted = {
        build("vendor.cpp"): "fixture [[2. 3. 4.]\n [5. 6. 7.]]\n[[1]\n [2]\n [3]\n [4]\n [5]]\n",
    }
    for example, (library, printed) in zip(examples, wanted.items(), strict=True):
        exec(compile(example, "README.md", "exec"), {"library": library})
        assert capsys.readouterr().out == printed
