"""What is made into a question, and what is not: definitions, codes, facts, speech."""

from __future__ import annotations

from time import perf_counter

import pytest

from drafting import FILLER, Read, read
from pincite.evals.generate import draft_cases
from pincite.evals.generate.draft import Source
from pincite.evals.generate.facts import Groups
from pincite.evals.generate.spoken import from_speech
from pincite.records import Case, Document, ExpectedPlace, Metadata, Modality


def drafts(*documents: Read) -> list[Case]:
    made = draft_cases(documents, most=100)
    return [case for case in made if not case.unanswerable]


def questions(*documents: Read) -> list[str]:
    return [case.question for case in drafts(*documents)]


def asking(question: str, *documents: Read) -> Case:
    (case,) = [case for case in drafts(*documents) if case.question == question]
    return case


@pytest.mark.parametrize(
    ("text", "question", "term"),
    [
        (
            "A sluice gate is a board that lets the water in.",
            "What is a sluice gate?",
            "sluice gate",
        ),
        ("Huge pages are a feature by which memory is had in one.", "What are Huge pages?", "Huge"),
        ("The thrash zone is the stretch that lies down at low water.", "thrash zone?", "thrash"),
        (
            "We use the Conductivity and Depth (CD) probe.",
            "What does CD stand for?",
            "Conductivity",
        ),
        ("An RIB (rigid inflatable boat) is used.", "What does RIB stand for?", "rigid inflatable"),
    ],
)
def test_what_a_text_explains_is_asked_for(text: str, question: str, term: str) -> None:
    document = read("mill.md", f"{FILLER}\n\n{text} {FILLER}\n")
    (case,) = [case for case in drafts(document) if question in case.question]
    assert case.places == (ExpectedPlace("mill.md", lines=(3, 3)),)
    assert term in case.terms[0]


@pytest.mark.parametrize(
    "text",
    [
        "This is a board that lets the water in from the river.",
        "If the gate is a board, then it lets the water in too fast.",
        "Logs are an important part of what the mill has to offer.",
        "The key is a board that lets the water in from the river.",
        "Below is a sample of what the mill has to offer to us.",
        "There is (AB) no long form of that, as far as anyone knows.",
    ],
)
def test_what_only_looks_like_an_explanation_is_not(text: str) -> None:
    assert questions(read("mill.md", f"{FILLER}\n\n{text}\n")) == []


def test_in_a_glossary_each_entry_is_asked_for() -> None:
    text = (
        "# Glossary\n\n## Neap tide\n\nA tide of small range, when sun and moon pull apart. "
        f"{FILLER}\n\n## Other words\n\n- **The Heron.** Our radar gauge on the old jetty.\n"
    )
    asked = questions(read("glossary.md", text))
    assert {"What does “Neap tide” mean?", "What is the Heron?"} <= set(asked)


def test_what_two_documents_explain_is_not_asked_for() -> None:
    text = f"{FILLER}\n\nA sluice gate is a board that lets the water in. {FILLER}\n"
    assert questions(read("a.md", text), read("b.md", text)) == []


def test_what_another_document_has_in_a_heading_is_not_asked_for() -> None:
    text = f"{FILLER}\n\nA sluice gate is a board that lets the water in. {FILLER}\n"
    other = read("b.md", f"# Water\n\n{FILLER}\n\n## All sluice gates\n\n{FILLER}\n\n{FILLER}\n")
    assert "What is a sluice gate?" in questions(read("a.md", text))
    assert "What is a sluice gate?" not in questions(read("a.md", text), other)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("When it says ERR-4042 the wheel is stuck.", "What does ERR-4042 mean?"),
        ("By decision D-2024-05 the wheel is red.", "What is decision D-2024-05?"),
        ("Set `wheel.max_speed` to ten.", "What is wheel.max_speed for?"),
    ],
)
def test_a_code_is_asked_for_to_the_letter(text: str, question: str) -> None:
    case = asking(question, read("mill.md", f"{FILLER}\n\n{text}\n"))
    assert case.kind == "exact_term"
    assert case.places == (ExpectedPlace("mill.md", lines=(3, 3)),)
    assert case.terms[0] in question


@pytest.mark.parametrize(
    "text",
    [
        "On 2024-05-01 at 12:30 it was 4.5 bar, well-known since UTF-8.",
        "See [it](#wheel_max_speed) or {{< tabs name=wheel_speed >}}.",
        "```\nset wheel_speed ERR-4042\n```",
        "The file is wheel_speed.yaml in /etc/mill_conf.",
    ],
)
def test_what_nobody_would_ask_for_is_no_code(text: str) -> None:
    assert questions(read("mill.md", f"{FILLER}\n\n{text}\n")) == []


def test_a_code_that_two_documents_have_is_not_asked_for() -> None:
    one = read("a.md", f"{FILLER} It says ERR-4042 or ERR-4043.\n")
    other = read("b.md", f"{FILLER} It says ERR-4042.\n")
    assert questions(one, other) == ["What does ERR-4043 mean?"]


def test_names_in_source_code_are_asked_for_where_they_are_defined() -> None:
    code = "def turn_wheel() -> None:\n    pass\n\n\ndef stop() -> None:\n    turn_wheel()\n"
    case = asking("Where is turn_wheel defined?", read("mill.py", code))
    assert case.kind == "exact_term"
    assert len(drafts(read("mill.py", code))) == 1


def about(title: str, facts: str, language: str = "en") -> Read:
    text = {"en": FILLER, "de": "Die Mühle steht auf dem Hof und wird von uns nicht gepflegt."}
    front = f"---\ntitle: {title}\n{facts}\n---\n\n# {title}\n\n{text[language]}\n"
    return read(f"{title}.md", front)


def test_what_a_file_says_of_itself_is_asked_for() -> None:
    asked = questions(about("Oats and water", "author: Ada Brae\ndate: 2024-05-01"))
    assert "Who wrote “Oats and water”?" in asked
    assert "When was “Oats and water” written?" in asked


def test_a_title_that_two_documents_have_is_not_asked_for() -> None:
    one = about("Oats and water", "date: 2024-05-01")
    document, chunks = about("Oats and water", "date: 2024-05-02")
    other = (Document("library", "b.md", "0", "md", document.title, document.text, ()), chunks)
    assert "When was “Oats and water” written?" not in questions(one, other)


def test_all_that_one_person_wrote_is_expected_in_whatever_language() -> None:
    documents = [
        about("Oats and water", "author: Ada Brae"),
        about("Hafer und Wasser", "author: Ada  Brae", "de"),
        about("Wind and weather", "author: Pip Halloran"),
    ]
    case = asking("Was hat Ada Brae geschrieben?", *documents)
    assert set(case.documents) == {"Oats and water.md", "Hafer und Wasser.md"}
    assert case.kind == "metadata"


def test_a_tag_that_many_documents_have_is_not_asked_for() -> None:
    documents = [about(f"Oats {'abcdefgh'[number]}x", "tags: [cereals]") for number in range(6)]
    few = "Which documents are tagged “cereals”?"
    assert few in questions(*documents[:5])
    assert few not in questions(*documents)


def test_of_very_many_authors_a_sample_is_held_with_all_that_they_wrote() -> None:
    groups = Groups(seed=0)
    for number in range(9_000):
        metadata = Metadata(author=f"Ada {number % 4_500}", language="en")
        path = f"{number}.md"
        document = Document("library", path, "0", "md", "Mill", "", (), metadata=metadata)
        groups.note(Source(document, []))
    held = [draft.case for draft in groups.drafts()]
    assert 2_000 <= len(held) <= 4_000
    assert all(len(case.documents) == 2 for case in held)


TALK = """# Boats for beginners

[00:00:00] Ada: Good evening to all of you. We begin with the copper kettle, which is very old.

[00:00:20] Ada: And then there is a wooden rudder. It lay in the shed for years and years on end.

[00:00:40] Ada: Nobody had seen the rudder. That is what I wanted you to know, and no more.
"""


def test_a_telling_phrase_is_asked_for_at_its_time() -> None:
    case = asking(
        "When is “wooden rudder” mentioned in “Boats for beginners”?",
        read("boats.transcript.md", TALK),
    )
    (place,) = case.places
    assert case.kind == "video_time"
    assert case.terms == ("wooden rudder",)
    assert place.time is not None
    assert 20 <= place.time[0] < place.time[1] <= 40


def test_a_phrase_must_be_a_thing_for_certain() -> None:
    asked = questions(read("boats.transcript.md", TALK))
    assert not [question for question in asked if "copper kettle" in question]  # no other "kettle"


@pytest.mark.parametrize(
    "again", ["I like wooden rudder.", "All those wooden rudders!", "A WOODEN\n rudder, again."]
)
def test_a_phrase_that_is_spoken_again_is_not_asked_for(again: str) -> None:
    asked = questions(read("boats.transcript.md", f"{TALK}\n[00:01:00] Ada: {again}\n"))
    assert not [question for question in asked if "wooden rudder" in question]


def test_a_long_recording_takes_no_longer_than_its_length() -> None:
    said = (
        "so we took the wooden rudder, and a copper kettle, off the river bank of the other mill."
    )
    text = "\n".join(f"{said} {number}" for number in range(8_000))
    metadata = Metadata(language="en")
    document = Document(
        "library",
        "talk.vtt",
        "0",
        "vtt",
        "Talk",
        text,
        (),
        metadata=metadata,
        modality=Modality.VIDEO_TRANSCRIPT,
    )
    start = perf_counter()
    assert list(from_speech(Source(document, []))) == []
    assert perf_counter() - start < 5  # seconds; counted anew for each phrase it was 15 and more


def test_a_recording_is_asked_for_by_its_length() -> None:
    assert "How long is the recording “Boats for beginners”?" in questions(
        read("boats.transcript.md", TALK)
    )
