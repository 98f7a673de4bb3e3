"""Location of a vendor's own lists: in the repository of the vendor, which runs the tests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

SETTING = "dl_known_failures"
"""Setting of pytest that names the folders with lists."""
DEFAULT = ("packages/vendor-{vendor}/tests", "tests/plugins/vendor-{vendor}/tests", "tests")
"""Folders without the setting: those of a repository with several vendors, then of one vendor."""


@dataclass(frozen=True)
class VendorLists:
    """Folders with the lists of vendors.

    :ivar folders: folders that may have a list; ``{vendor}`` stands for the vendor's name.
    """

    folders: tuple[str, ...]

    @classmethod
    def below(cls, root: Path, patterns: Iterable[str]) -> VendorLists:
        """Return the folders ``patterns``, relative to ``root``."""
        return cls(tuple(str(root / pattern) for pattern in patterns))

    @classmethod
    def of(cls, config: pytest.Config) -> VendorLists:
        """Return the folders that a configuration of pytest names."""
        return cls.below(config.rootpath, config.getini(SETTING))

    def find(self, vendor: str, name: str) -> Path | None:
        """Return the path of a vendor's list, which may not exist; None if no folder does.

        :param vendor: name in ``DL_VENDORS``.
        :param name: file name of the list.
        """
        folders = (Path(folder.replace("{vendor}", vendor)) for folder in self.folders)
        return next((folder / name for folder in folders if folder.is_dir()), None)
