"""Runs a reader in a process with as little memory as files are given when they are indexed."""

from __future__ import annotations

import os
import subprocess
import sys

_SCRIPT = """
import resource, sys
from importlib import import_module
from pincite.errors import FileUnreadable
from pincite.reading.source_file import SourceFile

module, function, path = sys.argv[1:]
read = getattr(import_module(module), function)
data = sys.stdin.buffer.read()
resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))
resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
try:
    print(read(SourceFile(path, data)).text)
except FileUnreadable as error:
    print("unreadable:", error)
"""


def read_in_small_memory(module: str, function: str, path: str, data: bytes) -> str:
    """The text that the reader finds, or "unreadable:" and why; fails if it does not survive."""
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, module, function, path],
        input=data,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "RUST_BACKTRACE": "0"},
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-2_000:]
    return done.stdout.decode()
