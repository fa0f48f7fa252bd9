"""`make audit`: known vulnerabilities, licences, and a bill of materials of what pincite needs.

    python tools/audit.py PYTHON BILL

Run by the Python of an environment that holds the tools; PYTHON is that of the one looked at, BILL
the file to write. Exit code 1: something was found. 3: not everything could be checked.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
EXIT_FOUND, EXIT_UNCHECKED = 1, 3

# What may be used by, and distributed beside, a work under Apache-2.0.
ALLOWED = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-CMU"),
    *("MPL-2.0", "PSF-2.0", "Zlib"),
    "License :: OSI Approved :: Apache Software License",
    "License :: OSI Approved :: BSD License",
    "License :: OSI Approved :: MIT License",
    "License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)",
}
# What was looked up by a person: their metadata does not tell it, or the licence is another.
KNOWN = {
    "apsw": "any licence of the OSI's list, by choice",
    "codespell": "GPL-2.0: a tool that is run on our own files, and distributed with nothing",
    "protobuf": "BSD-3-Clause",
    "psycopg": "LGPL-3.0: an optional library, used unchanged",
    "psycopg-binary": "LGPL-3.0: an optional library, used unchanged",
    "psycopg-pool": "LGPL-3.0: an optional library, used unchanged",
    "pypdfium2": "Apache-2.0 or BSD-3-Clause",
    "sqlite-vec": "Apache-2.0 or MIT",
}


def tool(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """One of the tools beside this Python."""
    program = str(Path(sys.executable).with_name(name))
    if not Path(program).exists():
        print(f"Nothing was audited: {program} is not there; `make audit` installs it.")
        sys.exit(EXIT_UNCHECKED)
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, cwd=ROOT
    )


def vulnerabilities(file: Path) -> tuple[list[str], list[str]]:
    """What is known to be wrong with the pinned packages of a file, and which nobody knows of.

    Where no database can be reached, pip-audit passes over every package and says that it found
    nothing: what it passed over was not checked.
    """
    arguments = ("--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off")
    ran = tool("pip-audit", "--requirement", str(file), *arguments)
    try:
        packages = json.loads(ran.stdout)["dependencies"]
    except (ValueError, KeyError):
        return [], [f"{file.name}, at all"]
    found = [
        f"{one['name']} {one['version']}: {known['id']}, mended in {known['fix_versions']}"
        for one in packages
        for known in one.get("vulns", ())
    ]
    return found, [one["name"] for one in packages if "skip_reason" in one]


def stated(component: dict[str, Any]) -> Iterator[str]:
    """The licences that a package says it is under."""
    for one in component.get("licenses", ()):
        licence = one.get("license", {})
        yield one.get("expression") or licence.get("id") or licence.get("name") or ""


def is_allowed(expression: str) -> bool:
    """Whether some way to read it is allowed: `A AND B` takes both, `A OR B` one of them."""
    return expression in ALLOWED or any(
        all(part.strip(" ()") in ALLOWED for part in way.split(" AND "))
        for way in expression.split(" OR ")
    )


def licences(python: str, bill: Path) -> list[str]:
    """Write the bill of materials; gives the packages whose licences are not allowed."""
    bill.parent.mkdir(exist_ok=True)
    described = ("--pyproject", "pyproject.toml", "--output-file", str(bill.absolute()))
    ran = tool("cyclonedx-py", "environment", python, *described)
    if ran.returncode:
        sys.exit(f"the bill of materials cannot be made: {ran.stderr.strip()}")
    refused = []
    components = json.loads(bill.read_bytes())["components"]
    for one in sorted(components, key=lambda one: one["name"].lower()):
        told = KNOWN.get(one["name"]) or " | ".join(stated(one)) or "says nothing"
        print(f"  {one['name']} {one['version']}: {told}")
        if one["name"] not in KNOWN and not any(map(is_allowed, stated(one))):
            refused.append(f"{one['name']}: {told}")
    return refused


def main(python: str, bill: Path) -> int:
    """Look at everything, tell it, and give the exit code."""
    print("Licences of what is installed:")
    refused = licences(python, bill)
    print(f"The bill of materials is in {bill}.")
    found, unknown = set[str](), set[str]()
    for file in sorted((ROOT / "requirements").glob("*.txt")):
        known, unchecked = vulnerabilities(file)
        found.update(known)
        unknown.update(unchecked)
    for one in refused:
        print(f"A licence that is not allowed: {one}. Replace it, or look it up for KNOWN.")
    for one in sorted(found):
        print(f"A known vulnerability: {one}")
    if unknown:
        print(
            f"{len(unknown)} pinned packages were not checked for vulnerabilities, "
            f"{min(unknown)} among them: no database of them can be reached, or knows these. Run "
            "it again with access to the internet."
        )
    elif not found:
        print("No known vulnerabilities in the pinned packages.")
    return EXIT_FOUND if refused or found else EXIT_UNCHECKED if unknown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
