"""`make audit` never calls unchecked what it could not check, nor anything else than it is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[3] / "tools" / "audit.py"
SOUND: dict[str, Any] = {"name": "pump", "version": "1", "vulns": []}
SKIPPED = {"name": "pump", "version": "1", "skip_reason": "could not be audited"}
WRONG = {**SOUND, "vulns": [{"id": "PYSEC-1", "fix_versions": ["2"]}]}


def audited(
    folder: Path, audit: object, licence: str = "MIT", *, returns: int = 0
) -> tuple[int, str]:
    """Run it in an environment whose tools say this."""
    (folder / "python").symlink_to(sys.executable)
    told = audit if isinstance(audit, str) else json.dumps({"dependencies": audit})
    component = {"name": "pump", "version": "1", "licenses": [{"expression": licence}]}
    bill = json.dumps({"components": [component]})
    for name, script in {
        "pip-audit": f"print({told!r}); exit({returns})",
        "cyclonedx-py": f"import sys; open(sys.argv[-1], 'w').write({bill!r})",
    }.items():
        (folder / name).write_text(f"#!{sys.executable}\n{script}\n")
        (folder / name).chmod(0o755)
    ran = subprocess.run(
        [folder / "python", SCRIPT, sys.executable, folder / "dist" / "sbom.json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in ran.stderr
    return ran.returncode, ran.stdout


@pytest.mark.parametrize("audit", [[SKIPPED], [SOUND, SKIPPED], "no route to host", "{}", ""])
def test_where_no_database_answers_it_says_so_and_not_that_all_is_well(
    tmp_path: Path, audit: object
) -> None:
    code, told = audited(tmp_path, audit)

    assert code == 3
    assert "not checked for vulnerabilities" in told
    assert "No known vulnerabilities" not in told


def test_without_its_tools_it_says_so_in_a_sentence(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, SCRIPT, sys.executable, tmp_path / "sbom.json"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ran.returncode, ran.stderr) == (3, "")
    assert "Nothing was audited: " in ran.stdout


def test_known_vulnerabilities_are_told_even_where_others_could_not_be_looked_for(
    tmp_path: Path,
) -> None:
    code, told = audited(tmp_path, [WRONG, SKIPPED], returns=1)

    assert code == 1
    assert "A known vulnerability: pump 1: PYSEC-1, mended in ['2']" in told


@pytest.mark.parametrize(
    ("licence", "code"),
    [
        ("MIT", 0),
        ("License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)", 0),
        ("GPL-3.0-only OR (MIT AND Zlib)", 0),
        ("MIT AND GPL-3.0-only", 1),
        ("GPL-3.0-only", 1),
        ("", 1),
    ],
)
def test_only_licences_of_the_list_pass(tmp_path: Path, licence: str, code: int) -> None:
    assert audited(tmp_path, [SOUND], licence)[0] == code
    assert (tmp_path / "dist" / "sbom.json").exists()
