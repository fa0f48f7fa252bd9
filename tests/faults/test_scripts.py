"""Documents that want to run scripts in whoever looks at them: a real browser opens each place."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import httpx
import pytest

from service import folders, listening
from soak import SOAK

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no chromium; `make browser` installs Debian's"
)

RAN = "document.documentElement.setAttribute('data-ran','yes')"
PAYLOADS = (
    f"<script>{RAN}</script>",
    f"</span></li></ol><script>{RAN}</script>",
    f'<img src=x onerror="{RAN}">',
    f'"><svg onload="{RAN}">',
    f'<iframe srcdoc="<script>parent.{RAN}</script>"></iframe>',
    f'</title></head><body onload="{RAN}">',
    f'<meta http-equiv="refresh" content="0;url=javascript:{RAN}">',
    f"<math><mtext></mtext><script>{RAN}</script></math>",
    f'<details open ontoggle="{RAN}">x</details>',
    f"<style>@import 'http://127.0.0.1:9/';</style><input autofocus onfocus=\"{RAN}\">",
    f"&lt;script&gt;{RAN}&lt;/script&gt;",
    f"<base href=javascript:{RAN}//><a href=x>x</a>",
)


def opened(address: str) -> tuple[bool, str]:
    """Whether a script of the page ran in the browser, and the page as it is then."""
    with tempfile.TemporaryDirectory(prefix="pincite-browser-") as profile:
        told = subprocess.run(
            [
                str(CHROMIUM),
                *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"),
                *("--no-first-run", "--disable-background-networking", "--disable-sync"),
                *("--disable-component-update", f"--user-data-dir={profile}"),
                *("--virtual-time-budget=2000", "--dump-dom", address),
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
    return "data-ran" in told.stdout.partition("<head")[0], told.stdout


def test_no_script_of_a_document_runs_where_a_citation_is_opened(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number, payload in enumerate(PAYLOADS):
        name = f"{number} {payload.replace('/', '')[:60]}.txt"
        text = f"Pump {number} leaks {payload} at the seal.\n"
        (notes / name).write_text(text)
    (notes / "titled.md").write_text(
        f"---\ntitle: {PAYLOADS[5]!r}\n---\n# Seal {PAYLOADS[0]}\n\nValve {PAYLOADS[3]} leaks.\n"
    )
    naive = tmp_path / "naive.html"
    naive.write_text(f"<!doctype html><title>x</title><p>{PAYLOADS[0]}</p>")
    assert opened(naive.as_uri())[0]  # a script that runs is noticed
    with listening(folders(notes)) as address:
        body = {"query": "leaks at the seal", "top_k": 50, "per_document": False}
        found = httpx.post(f"{address}/rag/search", json=body, timeout=60).json()["results"]
        places = {one["document"]["path"]: one for one in found}
        assert len(places) == len(PAYLOADS) + 1
        shown = ""
        for one in list(places.values()) if SOAK else [*places.values()][::4]:
            ran, page = opened(one["url"])
            assert not ran, one["document"]["path"]
            shown += page
        assert "<mark id=" in shown
        place = f"{address}/view/{found[0]['chunk']['id']}"
        assert not opened(f"{place}?at=<script>{RAN}</script>")[0]
