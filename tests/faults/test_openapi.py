"""Requests that nobody thought of, made from the service's own description, as one user of two."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from pathlib import Path

import httpx

from service import key_for, process, team
from soak import SOAK

SECONDS = 600 if SOAK else 20
SECRET = "marmalade-is-kept-in-bobs-cellar"


def test_no_request_breaks_the_service_or_shows_what_is_anothers(
    database: str, tmp_path: Path
) -> None:
    libraries = team(database)
    ada, bob = (key_for(libraries, user, "plans") for user in ("ada", "bob"))
    libraries.close()
    with process("--store", database) as (server, address):
        # What is logged is read meanwhile, or the service waits for it to be read.
        told: list[str] = []
        assert server.stderr is not None
        reading = threading.Thread(target=told.extend, args=(server.stderr,), daemon=True)
        reading.start()
        foreign = []
        for number in range(3):
            text = {"filename": f"{SECRET}-{number}.txt", "content": f"{SECRET} {number}"}
            done = httpx.post(f"{address}/rag/index", json=text, headers=bob, timeout=60)
            foreign.append(done.json()["id"])
        own = {"filename": "test.txt", "content": "Hello world"}
        httpx.post(f"{address}/rag/index", json=own, headers=ada, timeout=60)
        asked = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "run", f"{address}/openapi.json"),
                *("--header", f"Authorization: {ada['Authorization']}"),
                # Settings, filters and labels have more rules than a schema can tell.
                *("--exclude-checks", "positive_data_acceptance"),
                *("--max-time", str(SECONDS), "--no-color", "--generation-database", "none"),
                *("--report", "ndjson", "--report-dir", str(tmp_path)),
            ],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=SECONDS + 300,
            check=False,
        )
        seen = "".join(file.read_text() for file in tmp_path.glob("*.ndjson"))
        assert "/rag/documents" in seen
        for one in (SECRET, *foreign):
            assert one not in seen
        assert asked.returncode == 0, asked.stdout[-6_000:]
        kept = httpx.get(f"{address}/rag/documents", headers=bob, timeout=60)
        assert SECRET in kept.text  # to its owner it is shown in the same way
        assert {one["id"] for one in kept.json()["documents"]} == set(foreign)
    reading.join(30)
    assert not re.search(r'"status": 500|Traceback', "".join(told))
