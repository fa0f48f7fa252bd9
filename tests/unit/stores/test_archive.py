"""A library as one file: the same comes back, and whatever is wrong with a file is told."""

from __future__ import annotations

import base64
import random
import zlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_type_hints

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from helpers import HEADER, at_angle, embedded, fill, part
from libraries import documents
from memory_store import MemoryStore
from moving import MemoryHome, export, forge, home_in, lines_of, take
from pincite.engine.homes import MovingHome
from pincite.errors import (
    ArchiveInvalid,
    IndexExists,
    LibraryBusy,
    ModelError,
    SettingsError,
    StoreTooNew,
)
from pincite.records import Analysis, EmbeddedDocument, Failure, Locator, Metadata
from pincite.records.chunks import chunk_id
from pincite.records.documents import document_id
from pincite.stores import archive as forms
from pincite.stores.archive import written_archive
from pincite.stores.codec import embedded_to_json
from soak import times

Plain = dict[str, Any]


def remembering(
    *versions: EmbeddedDocument, problems: tuple[Failure, ...] | None = None
) -> MemoryHome:
    store = MemoryStore()
    fill(store, *versions)
    if problems is not None:
        store.finish(problems)
    return MemoryHome(store)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """An archive of two documents, one of them once replaced."""
    home = remembering(
        embedded("a.md", "the first words"),
        embedded("a.md", part("the pump leaks", 0, 20), "the seal"),
        embedded("notes/b.md", "the valve sticks", tags=("Red",)),
        problems=(Failure("c.pdf", "is damaged"),),
    )
    export(home, tmp_path / "small.pincite", root=tmp_path, history=True)
    return tmp_path / "small.pincite"


def taken(file: Path) -> MemoryHome:
    home = MemoryHome()
    with TemporaryDirectory() as root:
        take(file, home, root=Path(root))
    return home


# The round trip


@settings(max_examples=15)
@given(versions=st.lists(documents(), max_size=8), complete=st.booleans(), history=st.booleans())
def test_a_library_moved_from_store_to_store_gives_the_same_file_again(
    versions: list[EmbeddedDocument], complete: bool, history: bool
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        home = remembering(*versions, problems=() if complete else None)
        first, second = folder / "first.pincite", folder / "second.pincite"
        export(home, first, root=folder, history=history)
        embedded_home = home_in(folder / "library")
        take(first, embedded_home, root=folder / "library")
        export(embedded_home, second, root=folder / "library", history=history)
        assert first.read_bytes() == second.read_bytes()
        with closing(embedded_home.mend()) as store:
            assert store.verify() == []


def test_what_is_imported_is_what_was_exported(small: Path) -> None:
    assert small.stat().st_mode & 0o777 == 0o600
    store = taken(small).read()
    assert store.header() == HEADER
    assert [one.path for one in store.documents()] == ["a.md", "notes/b.md"]
    assert store.is_complete()
    assert store.problems() == [Failure("c.pdf", "is damaged")]
    loaded = store.load_embedded(store.documents()[0].id)
    assert loaded is not None
    np.testing.assert_array_equal(loaded.chunks[0].windows[1].vector, at_angle(20))
    assert [one.document.text for one in store.past_versions()] == ["the first words"]


def test_a_document_cut_in_an_older_way_is_still_told_to_be(tmp_path: Path) -> None:
    home = remembering(embedded("a.md", "the pump leaks"))
    home.read().begin(replace(HEADER, policy="flat"))
    export(home, tmp_path / "x.pincite", root=tmp_path)
    (entry,) = taken(tmp_path / "x.pincite").read().documents()
    assert entry.recipe == HEADER.recipe != replace(HEADER, policy="flat").recipe


def test_an_export_holds_nothing_that_was_deleted(tmp_path: Path) -> None:
    home = remembering(embedded("a.md", "a secret"), embedded("a.md", "nothing to hide"))
    export(home, tmp_path / "x.pincite", root=tmp_path)
    assert "secret" not in str(lines_of(tmp_path / "x.pincite"))
    export(home, tmp_path / "backup.pincite", root=tmp_path, history=True)
    assert "secret" in str(lines_of(tmp_path / "backup.pincite"))


def test_the_forms_name_every_field_that_is_written() -> None:
    """A new field that a form does not know would be lost on its way without a word."""
    pairs = ((Metadata, forms.MetadataForm), (Locator, forms.LocatorForm))
    for record, form in (*pairs, (Analysis, forms.AnalysisForm)):
        assert {one.name for one in fields(record)} == set(get_type_hints(form))
    written = embedded_to_json(embedded("a.md", "text"))
    assert written.keys() == get_type_hints(forms.DocumentForm).keys()
    assert written["chunks"][0].keys() == get_type_hints(forms.ChunkForm).keys()


# The file


def test_an_archive_is_not_overwritten_unless_asked(small: Path) -> None:
    before = small.read_bytes()
    with pytest.raises(SettingsError, match="exists"), written_archive(small, overwrite=False):
        pass
    assert small.read_bytes() == before


def test_an_export_that_fails_leaves_the_file_that_was_there(small: Path) -> None:
    before = small.read_bytes()
    with pytest.raises(ZeroDivisionError), written_archive(small, overwrite=True):
        raise ZeroDivisionError
    assert small.read_bytes() == before
    assert [path.name for path in small.parent.iterdir()] == ["small.pincite"]


def test_two_exports_do_not_write_into_one_file(tmp_path: Path) -> None:
    target = tmp_path / "x.pincite"
    with written_archive(target, overwrite=False) as first:
        with pytest.raises(LibraryBusy), written_archive(target, overwrite=False):
            pass
        first.add(forms.FileLine("pincite-eval.jsonl", b"{}"))
    assert [path.name for path in tmp_path.iterdir()] == ["x.pincite"]


# Damage


def told(file: Path, data: bytes, home: MovingHome | None = None) -> str:
    """What an import says of these bytes; nothing where it took them."""
    file.write_bytes(data)
    home = home or MemoryHome()
    try:
        take(file, home, root=file.parent)
    except ArchiveInvalid as error:
        return str(error)
    return ""


def test_a_file_that_was_cut_off_anywhere_is_told_as_such(small: Path, tmp_path: Path) -> None:
    data = small.read_bytes()
    inside = range(40, len(data) - 40, times(5, soak=1))
    for length in (*range(40), *inside, *range(len(data) - 40, len(data))):
        what = told(tmp_path / "cut.pincite", data[:length])
        assert ("is cut off" in what) or (length < 10 and "is not a file" in what), length


def test_a_byte_that_changed_anywhere_is_told(small: Path, tmp_path: Path) -> None:
    data = small.read_bytes()
    for position in range(0, len(data), times(3, soak=1)):
        changed = bytearray(data)
        changed[position] ^= 0xFF
        home = MemoryHome()
        assert told(tmp_path / "flipped.pincite", bytes(changed), home), position
        assert home.store is None


def test_a_single_bit_that_changed_is_told_or_changes_nothing(small: Path, tmp_path: Path) -> None:
    data, rng = small.read_bytes(), random.Random(1)
    for _ in range(300):
        changed = bytearray(data)
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        home = MemoryHome()
        if not told(tmp_path / "flipped.pincite", bytes(changed), home):
            # Bits that fill up the last byte of a stream belong to nothing.
            export(home, tmp_path / "again.pincite", root=tmp_path, history=True)
            assert (tmp_path / "again.pincite").read_bytes() == data


@pytest.mark.parametrize("more", [b"\0" * 512, b"x"])
def test_something_behind_the_end_is_told(small: Path, tmp_path: Path, more: bytes) -> None:
    assert "goes on after its end" in told(tmp_path / "x.pincite", small.read_bytes() + more)


@pytest.mark.parametrize("data", [b"", b"# Notes\n"])
def test_a_file_of_another_kind_is_told(tmp_path: Path, data: bytes) -> None:
    assert "is not a file that `pincite export`" in told(tmp_path / "x.pincite", data)


# Files that somebody made up; every checksum in them is right


def hostile(small: Path, change: Callable[[list[Plain]], object]) -> Path:
    lines = lines_of(small)
    change(lines)
    return forge(small.with_name("hostile.pincite"), lines)


def last(lines: list[Plain]) -> Plain:
    document: Plain = lines[-1]["document"]
    return document


def chunk(lines: list[Plain]) -> Plain:
    first: Plain = last(lines)["chunks"][0]
    return first


def vector(*values: float) -> str:
    return base64.b64encode(np.array(values, dtype="<f4").tobytes()).decode()


def set_vector(lines: list[Plain], *values: float) -> None:
    window = list(chunk(lines)["windows"][0])
    chunk(lines)["windows"] = [[*window[:3], vector(*values)]]


def deep() -> msgspec.Raw:
    return msgspec.Raw(b"[" * 200_000 + b"]" * 200_000)


def many_slices(lines: list[Plain]) -> None:
    document = last(lines)
    document["text"] = "x" * 4000
    one = document["chunks"][0]
    document["chunks"] = [{**one, "start": start, "end": 4000} for start in range(3000)]


HOSTILE: dict[str, Callable[[list[Plain]], object]] = {
    "another id": lambda lines: last(lines).update(id="0" * 40),
    "another chunk's id": lambda lines: chunk(lines).update(id="0" * 40),
    "another library": lambda lines: last(lines).update(library="theirs"),
    "no checksum": lambda lines: last(lines).update(checksum="abc"),
    "a size below zero": lambda lines: last(lines).update(size=-1),
    "a huge number": lambda lines: chunk(lines).update(tokens=10**30),
    "a window outside": lambda lines: chunk(lines).update(
        windows=[[0, 10**9, "0" * 32, vector(1, *[0] * 7)]]
    ),
    "a chunk behind the text": lambda lines: chunk(lines).update(end=10**6),
    "chunks twice": lambda lines: last(lines)["chunks"].append(chunk(lines)),
    "slices without end": many_slices,
    "a library without bottom": lambda lines: lines[0].update(surprise=deep()),
    "a document without bottom": lambda lines: last(lines).update(surprise=deep()),
    "a section outside": lambda lines: last(lines).update(sections=[[[], 0, 0, 10**9]]),
    "no window": lambda lines: chunk(lines).update(windows=[]),
    "a fingerprint that is none": lambda lines: chunk(lines).update(
        windows=[[0, 1, "../x", vector(1, *[0] * 7)]]
    ),
    "a vector that is too short": lambda lines: set_vector(lines, 1, 0, 0),
    "a vector of NaN": lambda lines: set_vector(lines, *[float("nan")] * 8),
    "a vector that is too long to be near": lambda lines: set_vector(lines, 1000, *[0] * 7),
    "places that unpack without end": lambda lines: chunk(lines).update(
        places=base64.b64encode(zlib.compress(b"[" + b"[0,0]," * 10**6 + b"[0,0]]")).decode()
    ),
    "places outside": lambda lines: chunk(lines).update(
        places=base64.b64encode(zlib.compress(b"[[0,999999]]")).decode()
    ),
    "a place that is a word": lambda lines: chunk(lines).update(
        places=base64.b64encode(zlib.compress(b'[[0,1,"one"]]')).decode()
    ),
    "places on a page beyond all": lambda lines: chunk(lines).update(
        places=base64.b64encode(zlib.compress(b"[[0,1,1e999]]")).decode()
    ),
    "places without bottom": lambda lines: chunk(lines).update(
        places=base64.b64encode(zlib.compress(b"[" * 5_000)).decode()
    ),
    "a level below nothing": lambda lines: last(lines).update(sections=[[[], -3, 0, 1]]),
    "pages without end": lambda lines: last(lines)["metadata"].update(pages=2**62),
    "a tag that ends before it ends": lambda lines: last(lines)["metadata"].update(tags=["a\0b"]),
    "tags without end": lambda lines: last(lines)["metadata"].update(tags=[""] * 10**6),
    "an eval run that leads out": lambda lines: lines.insert(1, run_line("../../../evil")),
    "a file that is none of ours": lambda lines: lines.insert(
        1, {"kind": "file", "name": "../.bashrc", "data": ""}
    ),
    "a file of ours twice": lambda lines: lines.__setitem__(
        slice(1, 1), [{"kind": "file", "name": "pincite-eval.jsonl", "data": ""}] * 2
    ),
    "a line of no kind": lambda lines: lines.insert(1, {"kind": "surprise"}),
    "a number that is none": lambda lines: chunk(lines).update(start="0"),
    "a second library": lambda lines: lines.insert(1, lines[0]),
    "an unknown policy": lambda lines: lines[0]["header"].update(policy="shredder"),
    "a modality that is none": lambda lines: chunk(lines).update(modality="smell"),
    "no name": lambda lines: lines[0]["header"].update(name=""),
    "no library": lambda lines: lines.pop(0),
    "documents in disorder": lambda lines: lines.append(lines.pop(-2)),
    "a document less than it says": lambda lines: lines.pop(),
    "absurd counts": lambda lines: lines[0].update(documents=10**15),
    "an absurd size limit": lambda lines: lines[0]["header"].update(max_file_bytes=10**18),
    "a size limit below nothing": lambda lines: lines[0]["header"].update(max_file_bytes=-1),
    "an edition below nothing": lambda lines: lines[0]["header"].update(edition=-1),
    "absurd dimensions": lambda lines: lines[0]["header"]["model"].update(dimensions=10**9),
    "vectors of the past": lambda lines: lines[1]["document"]["chunks"][0].update(
        windows=[[0, 1, "0" * 32, vector(1, *[0] * 7)]]
    ),
}


def run_line(name: str) -> Plain:
    setup = {"mode": "hybrid", "settings": {}, "policy": "vault", "model": "m", "fingerprint": "f"}
    return {
        "kind": "run",
        "run": {
            **{"id": name, "label": "", "made_at": "2024-01-01T00:00:00+00:00", "cases": "c"},
            "setup": {**setup, "index": "i", "documents": 1, "chunks": 1, "version": "1"},
        },
    }


@pytest.mark.parametrize("what", HOSTILE)
def test_a_file_that_was_made_to_harm_is_refused_and_changes_nothing(
    small: Path, tmp_path: Path, what: str
) -> None:
    file, root = hostile(small, HOSTILE[what]), tmp_path / "library"
    with pytest.raises(ArchiveInvalid, match="nothing was changed"):
        take(file, home_in(root), root=root)
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("path", ["a/../../x.md", "/etc/passwd", "x\0.md", ""])
def test_a_document_whose_path_leads_elsewhere_is_refused(
    small: Path, tmp_path: Path, path: str
) -> None:
    def rename(lines: list[Plain]) -> None:
        del lines[1:-1]
        lines[0].update(documents=1)
        document = last(lines)
        document.update(path=path, id=document_id(HEADER.name, path, document["checksum"]))
        for one in document["chunks"]:
            one.update(id=chunk_id(document["id"], one["modality"], one["start"]))

    with pytest.raises(ArchiveInvalid, match="not a path inside a library"):
        take(hostile(small, rename), MemoryHome(), root=tmp_path)


def test_the_same_file_without_harm_is_taken(small: Path, tmp_path: Path) -> None:
    file = hostile(small, lambda lines: lines.insert(1, run_line("20240101-000000-000000")))
    report = take(file, home_in(tmp_path / "library"), root=tmp_path / "library")
    assert (report.documents, report.runs, report.past) == (2, 1, 1)


def test_a_line_without_end_is_refused_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pincite.stores.archive.MOST_LINE_BYTES", 1 << 20)
    with written_archive(tmp_path / "bomb.pincite", overwrite=False) as archive:
        for _ in range(64):
            archive._file.write(archive._packing.compress(b" " * (1 << 20)))
    assert (tmp_path / "bomb.pincite").stat().st_size < 1 << 20
    with pytest.raises(ArchiveInvalid, match="line of more than"):
        taken(tmp_path / "bomb.pincite")


def test_a_newer_format_is_left_alone(small: Path) -> None:
    file = hostile(small, lambda lines: lines[0].update(format=2, pincite="9.0", header="other"))
    with pytest.raises(StoreTooNew, match=r"9\.0"):
        taken(file)


# Where there is a library already


def test_an_index_that_is_there_is_replaced_only_if_asked(small: Path, tmp_path: Path) -> None:
    home = remembering(embedded("mine.md", "my own words"))
    with pytest.raises(IndexExists, match="--replace"):
        take(small, home, root=tmp_path)
    assert [one.path for one in home.read().documents()] == ["mine.md"]
    take(small, home, root=tmp_path, replace=True)
    assert [one.path for one in home.read().documents()] == ["a.md", "notes/b.md"]


def test_an_index_of_another_model_is_not_replaced(small: Path, tmp_path: Path) -> None:
    store = MemoryStore()
    store.begin(replace(HEADER, model=replace(HEADER.model, fingerprint="other:1")))
    with pytest.raises(ModelError, match="other:1"):
        take(small, MemoryHome(store), root=tmp_path, replace=True)
