from pincite.text.passwords import ways_to_write


def test_no_password_is_tried_first_then_the_empty_one() -> None:
    assert list(ways_to_write(()))[:2] == [None, b"\0"]


def test_a_password_is_tried_as_every_revision_of_pdf_would_write_it() -> None:
    ways = list(ways_to_write(("pässwört",)))
    assert "pässwört\0".encode() in ways
    assert "pässwört\0".encode("latin-1") in ways


def test_compatibility_forms_and_soft_hyphens_are_prepared_away() -> None:
    assert b"SaSLprep\0" in list(ways_to_write(("SªSL\xadprep",)))


def test_nothing_is_tried_twice() -> None:
    ways = list(ways_to_write(("abc", "abc")))
    assert len(ways) == len(set(ways))
