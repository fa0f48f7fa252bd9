from pincite.chunking.frames import frame_spans
from pincite.chunking.measure import Measure
from pincite.chunking.transcript import recording_spans
from pincite.models.hashing import HashingEmbedder
from pincite.reading.reader import LibraryReader
from pincite.records import Document, Modality
from pincite.settings import POLICIES


def read(text: str, path: str = "talk.frames.md") -> Document:
    return LibraryReader("library").read(path, text.encode())


def chunks(document: Document) -> list[tuple[str, Modality]]:
    measure = Measure(document.text, HashingEmbedder())
    spans = recording_spans(document, measure, POLICIES["vault"])
    return [(document.text[start:end], modality) for start, end, modality in spans]


def test_each_frame_is_one_chunk_with_all_that_stands_under_it() -> None:
    long = "A gull sits on the railing. " * 400
    document = read(
        "# Frames\n\nOne camera.\n\n## Frame at 00:05\n\nA slide.\n\n### Text\n\nTides.\n\n"
        f"## Frame at 00:10\n\n{long}\n\n## Frame at 00:10\n\n## Frame at 00:20\n\nThe end.\n"
    )
    assert chunks(document) == [
        ("# Frames\n\nOne camera.", Modality.TEXT),
        ("## Frame at 00:05\n\nA slide.\n\n### Text\n\nTides.", Modality.VIDEO_FRAME),
        (f"## Frame at 00:10\n\n{long.strip()}", Modality.VIDEO_FRAME),
        ("## Frame at 00:10", Modality.VIDEO_FRAME),
        ("## Frame at 00:20\n\nThe end.", Modality.VIDEO_FRAME),
    ]
    assert [document.text[start:end] for start, end in frame_spans(document)] == [
        text for text, modality in chunks(document) if modality is Modality.VIDEO_FRAME
    ]


def test_the_title_of_the_frames_alone_is_no_chunk() -> None:
    document = read("# Frames\n\n## Frame at 00:05\n\nA slide.\n")
    assert chunks(document) == [("## Frame at 00:05\n\nA slide.", Modality.VIDEO_FRAME)]


def test_what_is_said_around_a_frame_is_cut_apart_from_it() -> None:
    words = "The sea comes up, stops, goes down again, and nobody knows why."
    document = read(
        f"# Talk\n\n[00:00] {words}\n\n[00:05] {words}\n\n## Frame at 00:07\n\nA slide.\n\n"
        f"## More\n\n[00:10] {words}\n\n[00:15] {words}\n",
        "talk.md",
    )
    kinds = [modality for _, modality in chunks(document)]
    spoken = Modality.VIDEO_TRANSCRIPT
    assert kinds == [spoken, Modality.VIDEO_FRAME, spoken]
    assert chunks(document)[2][0].startswith("## More")


def test_a_code_without_words_is_not_taken_across_a_frame() -> None:
    words = "The sea comes up, stops, goes down again, and nobody knows why."
    document = read(
        f"[00:00] {words}\n\n[00:05] {words}\n\n[00:07]\n\n## Frame at 00:07\n\nA slide.\n\n"
        f"## More\n\n[00:10] {words}\n",
        "talk.transcript.md",
    )
    texts = [text for text, _ in chunks(document)]
    assert "".join(texts).count("A slide.") == 1
    assert [text[:9] for text in texts] == ["[00:00] T", "## Frame ", "## More\n\n"]


def test_what_lasts_no_time_is_no_frame() -> None:
    document = read(
        "[00:00] Oh, so it does, and how.\n\n[00:05] Ah, so it is, and now.\n\n"
        "[00:05] Uh, so it was.\n",
        "talk.transcript.md",
    )
    assert any(place.time_start == place.time_end for place in document.places)
    assert frame_spans(document) == []
