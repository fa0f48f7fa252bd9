"""A disk that is soon full."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(size: str) -> Iterator[Path]:
    """The folder that such a disk is mounted in; where none can be, the test is skipped."""
    with tempfile.TemporaryDirectory(prefix="pincite-small-", dir="/tmp") as folder:
        options = f"size={size},mode=777"
        command = ("mount", "-t", "tmpfs", "-o", options, "tmpfs", folder)
        try:
            mounted = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            pytest.skip("there is no program `mount` to make a small disk with")
        if mounted.returncode:
            pytest.skip(f"no small disk can be mounted here: {mounted.stderr.strip()}")
        try:
            yield Path(folder)
        finally:
            subprocess.run(("umount", "-l", folder), check=True)
