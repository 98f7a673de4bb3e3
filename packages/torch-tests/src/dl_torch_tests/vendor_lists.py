"""Lookup of a vendor's own lists, such as known failures, in the repository that runs the tests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

SETTING = "dl_known_failures"
"""Setting of pytest with the folders of the lists."""
DEFAULT = ("packages/vendor-{vendor}/tests", "tests/plugins/vendor-{vendor}/tests", "tests")
"""Default folders: first those of a repository with several vendors, then that of a single vendor's
repository."""


@dataclass(frozen=True)
class VendorLists:
    """Folders with the lists of vendors.

    :ivar folders: folders to search for lists; ``{vendor}`` stands for the vendor's name.
    """

    folders: tuple[str, ...]

    @classmethod
    def below(cls, root: Path, patterns: Iterable[str]) -> VendorLists:
        """Return the folders ``patterns``, relative to ``root``."""
        return cls(tuple(str(root / pattern) for pattern in patterns))

    @classmethod
    def of(cls, config: pytest.Config) -> VendorLists:
        """Return the folders in a configuration of pytest."""
        return cls.below(config.rootpath, config.getini(SETTING))

    def find(self, vendor: str, name: str) -> Path | None:
        """Return the path of a list in the vendor's first existing folder; None without a folder.

        The list itself may be missing.

        :param vendor: name in ``DL_VENDORS``.
        :param name: file name of the list.
        """
        folders = (Path(folder.replace("{vendor}", vendor)) for folder in self.folders)
        return next((folder / name for folder in folders if folder.is_dir()), None)
