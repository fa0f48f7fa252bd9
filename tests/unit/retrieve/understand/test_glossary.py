"""The library's own glossary file."""

from __future__ import annotations

from pincite.retrieve.understand.glossary import Meaning, parse_glossary


def test_a_line_names_one_thing_or_several_names_for_it() -> None:
    glossary = parse_glossary(
        "RRF = Reciprocal Rank Fusion\ncar = automobile, motor car\n", "g.txt"
    )
    assert glossary.meanings["rrf"] == (Meaning("RRF", "Reciprocal Rank Fusion"),)
    assert glossary.meanings["reciprocal rank fusion"] == glossary.meanings["rrf"]
    assert [one.long for one in glossary.meanings["car"]] == ["automobile", "motor car"]
    assert glossary.meanings["motor car"] == (Meaning("car", "motor car"),)
    assert glossary.notes == ()


def test_a_name_may_have_several_lines() -> None:
    glossary = parse_glossary("CD = compact disc\nCD = certificate of deposit", "g.txt")
    assert [one.long for one in glossary.meanings["cd"]] == [
        "compact disc",
        "certificate of deposit",
    ]


def test_comments_empty_lines_and_a_byte_order_mark_are_nothing() -> None:
    text = "\ufeffCI = continuous integration # not Côte d'Ivoire\n\n# more\n   \nC# = sharp"
    glossary = parse_glossary(text, "g.txt")
    assert [one.short for held in glossary.meanings.values() for one in held].count("CI") == 2
    assert glossary.meanings["sharp"] == (Meaning("C#", "sharp"),)
    assert glossary.notes == ()


def test_a_bad_line_is_told_with_its_number_and_the_others_hold() -> None:
    glossary = parse_glossary("just words\nRRF = rank fusion\n= x\ny =\n", "pincite-glossary.txt")
    assert glossary.notes[0].startswith("pincite-glossary.txt, line 1: ")
    assert [note.split(":")[0][-1] for note in glossary.notes] == ["1", "3", "4"]
    assert "rrf" in glossary.meanings


def test_no_more_names_are_held_than_a_search_can_look_at() -> None:
    many = ", ".join(f"name {number}" for number in range(6_000))
    glossary = parse_glossary(f"ABC = {many}\nDEF = {many}\nGHI = one more", "g.txt")
    assert [len(glossary.meanings[key]) for key in ("abc", "def")] == [6_000, 4_000]
    assert "ghi" not in glossary.meanings
    told = "g.txt: what follows the first 10,000 names or lines is left out"
    assert glossary.notes == (told,)
    assert parse_glossary("# nothing\n" * 10_001, "g.txt").notes == (told,)


def test_a_file_that_is_no_glossary_does_not_fill_the_screen() -> None:
    notes = parse_glossary("prose\n" * 50, "g.txt").notes
    assert len(notes) == 4
    assert notes[-1] == "g.txt: 47 more lines left out"
