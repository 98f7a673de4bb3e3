"""The root filesystem: Debian for arm64 with Python, and the machine's cross compiler."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import SessionError

SUITE = "bookworm"
PYTHON = "python3.11"
INCLUDED = (PYTHON, f"{PYTHON}-dev", "python3-distutils", "libgomp1", "libstdc++6")
MERGED_USR = "/usr/share/mmdebstrap/hooks/merged-usr"
PACKAGES = f"usr/local/lib/{PYTHON}/dist-packages"
"""Folder of Python packages."""
PREFIX = "aarch64-linux-gnu-"
TOOLS = (
    *("gcc", "g++", "cpp", "ld", "as", "ar", "nm", "ranlib", "strip"),
    *("objcopy", "objdump", "readelf"),
)
ALIASES = {"cc": "gcc", "c++": "g++"}
# Debian creates this link by a script of a package. torch looks compilers up with it.
LINKS = {"which": "which.debianutils"}
CCACHE = "ccache"
CCACHE_LINKS = "usr/lib/ccache"
"""Folder of the compilers' names that run them through ccache."""
CCACHE_FOLDER = "var/cache/ccache"
COMPILER_FOLDERS = ("/usr/lib/gcc-cross/aarch64-linux-gnu", "/usr/aarch64-linux-gnu")
# Python looks up the home folder of its user, and a test gives files away.
USERS = "root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1:daemon:/:/bin/sh\n"
LONGEST = 3 * 3600.0
"""Timeout of a command in seconds, by default."""
_LAST_LINES = 30
"""Lines of output in an error; the last ones have the cause."""


@dataclass(frozen=True)
class Root:
    """A root filesystem.

    :ivar logs: folder for the output of commands.
    """

    path: Path
    logs: Path

    @property
    def packages(self) -> Path:
        return self.path / PACKAGES

    def create(self) -> bool:
        """Create the filesystem unless it exists; return True if it was created.

        Packages are only unpacked: their scripts would run by emulation, and nothing here needs
        them.

        :raises SessionError: the archive is not reachable.
        """
        done = self.path / "etc" / "passwd"
        if done.exists():
            return False
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # No script runs, so nothing has to be mounted, which users may not do.
        mounts = "--skip=chroot/mount"
        options = ("--quiet", "--mode=root", "--arch=arm64", "--variant=extract", mounts)
        included = ("--include=?essential", f"--include={','.join(INCLUDED)}")
        hooks = f"--hook-dir={MERGED_USR}"
        run("mmdebstrap", *options, hooks, *included, SUITE, str(self.path))
        (self.path / PACKAGES).mkdir(parents=True, exist_ok=True)
        done.write_text(USERS, encoding="utf-8")
        return True

    def add_compiler(self) -> None:
        """Copy the cross compiler with its libraries, under the names of a native compiler."""
        programs = sorted(Path("/usr/bin").glob(f"{PREFIX}*"))
        parts = [x for each in COMPILER_FOLDERS for x in Path(each).rglob("*") if x.is_file()]
        executables = [*programs, *filter(_runs, parts)]
        copies = [*map(str, programs), *COMPILER_FOLDERS, *libraries(executables)]
        for each in copies:
            copy = self.path / each.removeprefix("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            # Follows the link of a library, but keeps those between the programs.
            kind = "-Lu" if ".so" in Path(each).name else "-au"
            run("cp", kind, "-T", each, str(copy))
        compilers = {tool: PREFIX + ALIASES.get(tool, tool) for tool in (*TOOLS, *ALIASES)}
        self._link("usr/bin", {**compilers, **LINKS})
        self.add_ccache()

    def add_ccache(self) -> None:
        """Copy ccache, if the machine has it. Its objects outlive this filesystem."""
        shutil.rmtree(self.path / CCACHE_LINKS, ignore_errors=True)
        if (program := shutil.which(CCACHE)) is None:
            return
        for each in (program, *libraries([Path(program)])):
            copy = self.path / each.removeprefix("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            run("cp", "-Lu", "-T", each, str(copy))
        native = ("gcc", "g++", *ALIASES)
        compilers = (*native, *(f"{PREFIX}{name}" for name in ALIASES.values()))
        self._link(CCACHE_LINKS, dict.fromkeys(compilers, program))

    def _link(self, folder: str, targets: Mapping[str, str]) -> None:
        (self.path / folder).mkdir(parents=True, exist_ok=True)
        for name, target in targets.items():
            link = self.path / folder / name
            link.unlink(missing_ok=True)
            link.symlink_to(target)

    def mount(self) -> None:
        """Mount what programs need. This process has mounts of its own, which end with it.

        /sys is absent on purpose: libraries would take the x86 machine's topology for ARM's.
        """
        run("mount", "--rbind", "/dev", str(self.path / "dev"))
        run("mount", "-t", "proc", "proc", str(self.path / "proc"))
        shutil.copyfile("/etc/hosts", self.path / "etc" / "hosts")
        if (self.path / CCACHE_LINKS).exists():
            objects = Path(run(CCACHE, "--get-config", "cache_dir").strip())
            for each in (objects, self.path / CCACHE_FOLDER):
                each.mkdir(parents=True, exist_ok=True)
            run("mount", "--bind", str(objects), str(self.path / CCACHE_FOLDER))

    def index_libraries(self) -> None:
        """Write the cache of the dynamic loader, unless it exists; no script of a package did."""
        if not (self.path / "etc" / "ld.so.cache").exists():
            self.run("ldconfig", log="ldconfig")

    def command(
        self,
        command: Iterable[str],
        *,
        folder: str = "/",
        variables: Mapping[str, str] | None = None,
    ) -> list[str]:
        """Return the command line that runs a command in the filesystem."""
        settings = {
            "PATH": f"/{CCACHE_LINKS}:/usr/bin:/bin:/usr/sbin:/{PACKAGES}/bin",
            "CCACHE_DIR": f"/{CCACHE_FOLDER}",
            "HOME": "/root",
            "LANG": "C.UTF-8",
            **(variables or {}),
        }
        assignments = [f"{name}={value}" for name, value in settings.items()]
        within = ("sh", "-c", 'cd "$0" && exec "$@"', folder)
        chroot = ("/usr/sbin/chroot", str(self.path))
        return [*chroot, "/usr/bin/env", "-i", *assignments, *within, *command]

    def run(
        self,
        *command: str,
        folder: str = "/",
        variables: Mapping[str, str] | None = None,
        log: str,
        statuses: Iterable[int] = (0,),
        seconds: float = LONGEST,
    ) -> str:
        """Run a command in the filesystem and return its output, which is also written to a log.

        :param log: name of the log, without suffix.
        :param statuses: exit statuses of success.
        :param seconds: timeout.
        :raises SessionError: the command failed; the message has the last lines of output.
        """
        full = self.command(command, folder=folder, variables=variables)
        self.logs.mkdir(parents=True, exist_ok=True)
        path = self.logs / f"{log}.log"
        # A file, because a process that the command leaves behind would keep a pipe open.
        with path.open("wb") as output:
            process = subprocess.Popen(
                full, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
            try:
                ended = f"ended with {process.wait(seconds)}"
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                ended = f"took longer than {seconds:g} s"
        text = path.read_text(encoding="utf-8", errors="replace")
        if process.returncode not in statuses:
            last = "\n".join(text.splitlines()[-_LAST_LINES:])
            raise SessionError(f"[aarch64] `{' '.join(command)[:120]}` {ended}; {path}:\n{last}")
        return text


def run(*command: str) -> str:
    """Run a command of the machine itself and return its output.

    :raises SessionError: it failed.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-_LAST_LINES:])
        raise SessionError(f"[aarch64] `{' '.join(command)[:120]}` failed:\n{last}")
    return done.stdout


def libraries(executables: Iterable[Path]) -> list[str]:
    """Return the paths of the shared libraries that executables need, with the loader."""
    text = run("ldd", *map(str, executables))
    words = (word for line in text.splitlines() for word in line.split())
    return sorted({word for word in words if word.startswith("/") and not word.endswith(":")})


def _runs(path: Path) -> bool:
    """Return True if a file is a program or a plugin for this machine."""
    with path.open("rb") as file:
        start = file.read(20)
    return start[:4] == b"\x7fELF" and start[18] == 62 and start[16] != 1
