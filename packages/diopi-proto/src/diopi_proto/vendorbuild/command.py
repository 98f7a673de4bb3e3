"""Integration with setuptools: an extension type for plain shared libraries, and build_ext."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

# setuptools ships no types, and every user of mypy would need its stub package.
from setuptools import Extension  # type: ignore[import-untyped]
from setuptools.command.build_ext import build_ext  # type: ignore[import-untyped]

from .compiler import compile_library
from .device import DeviceCompiler
from .rules import ENTRY_SYMBOL


class VendorLibrary(Extension):  # type: ignore[misc]
    """A vendor library as an extension of a setuptools project.

    :param name: dotted path in the wheel: ``"dl_vendor_x.lib.libdl_vendor_x"`` becomes
        ``dl_vendor_x/lib/libdl_vendor_x.so``.
    :param sources: C and C++ files, and files for ``device_compiler``, relative to ``setup.py``.
    :param filename: another file name than ``<last part of name>.so``.
    :param exports: names, or glob patterns, of all exported symbols.
    :param legacy: a library in DIOPI's style, whose runtime functions the host provides.
    :param soname: ``DT_SONAME``; by default there is none, because vendor libraries are opened by
        path.
    :param device_compiler: compiler for the sources with its suffix; it does not get
        ``extra_compile_args``.
    :param arguments: ``include_dirs``, ``define_macros``, ``undef_macros``, ``libraries``,
        ``library_dirs``, ``extra_objects``, ``extra_compile_args``, ``extra_link_args`` and
        ``depends`` as in :class:`setuptools.Extension`.
    """

    def __init__(
        self,
        name: str,
        sources: Sequence[str],
        *,
        filename: str | None = None,
        exports: Sequence[str] = (ENTRY_SYMBOL,),
        legacy: bool = False,
        soname: str | None = None,
        device_compiler: DeviceCompiler | None = None,
        **arguments: Any,
    ) -> None:
        super().__init__(name, list(sources), **arguments)
        self.filename = filename or name.rpartition(".")[2] + ".so"
        self.exports = tuple(exports)
        self.legacy = legacy
        self.soname = soname
        self.device_compiler = device_compiler

    def macros(self) -> list[str]:
        """Return the macros of an extension as compiler flags."""
        defined = [f"-D{n}" if v is None else f"-D{n}={v}" for n, v in self.define_macros]
        return [*defined, *(f"-U{name}" for name in self.undef_macros)]

    def link_flags(self) -> list[str]:
        """Return the linker flags of an extension."""
        return [
            *self.extra_objects,
            *(f"-L{path}" for path in self.library_dirs),
            *self.extra_link_args,
            *(f"-l{name}" for name in self.libraries),
        ]


class build_vendor_library(build_ext):  # type: ignore[misc]  # noqa: N801 - setuptools names it so
    """``build_ext`` that builds a :class:`VendorLibrary` by the build rules, and other extensions
    as usual.

    A wheel with only such libraries works with every Python 3 and is tagged accordingly.
    """

    # Otherwise editable installs would ignore build_ext's settings in configuration files.
    command_name = "build_ext"

    def run(self) -> None:
        if all(isinstance(extension, VendorLibrary) for extension in self.extensions):
            self._tag_wheel()
        super().run()

    def build_extension(self, ext: Extension) -> None:
        if not isinstance(ext, VendorLibrary):
            super().build_extension(ext)
            return
        compile_library(
            self.get_ext_fullpath(ext.name),
            ext.sources,
            exports=ext.exports,
            legacy=ext.legacy,
            soname=ext.soname,
            include_dirs=ext.include_dirs,
            macros=ext.macros(),
            compile_flags=ext.extra_compile_args,
            link_flags=ext.link_flags(),
            build_dir=Path(self.build_temp) / ext.name,
            jobs=self.parallel if isinstance(self.parallel, int) and self.parallel > 1 else None,
            device_compiler=ext.device_compiler,
        )

    def get_ext_filename(self, fullname: str) -> str:
        extension = self.ext_map.get(fullname)
        if isinstance(extension, VendorLibrary):
            return "/".join([*fullname.split(".")[:-1], extension.filename])
        return str(super().get_ext_filename(fullname))

    def copy_extensions_to_source(self) -> None:
        build_py = self.get_finalized_command("build_py")
        for extension in self.extensions:
            package = extension.name.rpartition(".")[0]
            Path(build_py.get_package_dir(package)).mkdir(parents=True, exist_ok=True)
        super().copy_extensions_to_source()

    def _tag_wheel(self) -> None:
        wheel = self.distribution.command_obj.get("bdist_wheel")
        if wheel is None:
            return
        usual = wheel.get_tag

        def get_tag() -> tuple[str, str, str]:
            return ("py3", "none", usual()[2])

        wheel.get_tag = get_tag
