"""Artifacts: every line is cited or marked as open, none stands twice, and `check` reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from llm_server import language_model
from model_service import Reply, Service, running_service, said
from pincite import AskSettings, Library, ModelAccess, Profile, open_library
from pincite.answer.footnotes import artifact_as_markdown, footnotes_in
from pincite.engine.artifacts import KINDS, make, parse_template, template_named
from pincite.entrypoints.cli.main import cli
from pincite.errors import SettingsError
from pincite.models.chat import RemoteGenerator
from pincite.records import Artifact

TEXTS = {
    "gauge.md": "# Tide gauge\n\nThe tide gauge measures the height of the sea.\n\n"
    "## Goals\n\nThe tide gauge is to warn the harbour of floods.\n\n"
    "## Parts\n\nThe tide gauge consists of a float, a pulley and a logger.\n\n"
    "## Risks\n\nThe tide gauge fails when the float is stuck.\n",
    "kitchen.md": "# Kitchen\n\nThe oven fails when the door is open.\n",
    "again.md": "# Tide gauge, a copy\n\nThe tide gauge fails when the float is stuck.\n",
}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    root = tmp_path / "library"
    root.mkdir()
    for name, text in TEXTS.items():
        (root / name).write_text(text)
    with open_library(root) as library:
        library.index(model="hashing")
        yield library


def command(library: Library, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["make", *arguments, "--library", str(library.root)])


@pytest.mark.parametrize("kind", KINDS)
def test_every_line_is_cited_or_open_and_none_stands_twice(library: Library, kind: str) -> None:
    made = make(library, template_named(kind), "tide gauge")
    text = artifact_as_markdown(made)
    cited = []
    for part in made.sections:
        assert bool(part.claims) is not bool(part.open)
        for claim in part.claims:
            (one,) = claim.citations
            document = library.get_document(one.document_id)
            assert document is not None
            assert document.text[one.start : one.end] == claim.text
            assert one.path in ("gauge.md", "again.md")
            cited.append(claim.text)
    assert cited
    assert len(cited) == len(set(cited))
    for line in text.splitlines():
        assert re.match(r"$|#|\*|- .*\[\^\d+\]$|Open: |\[\^\d+\]: ", line), line
    assert len(footnotes_in(text)) == len(cited)


def test_each_section_holds_what_it_asks_for(library: Library) -> None:
    made = make(library, template_named("blueprint"), "tide gauge")
    told = {part.heading: [claim.text for claim in part.claims] for part in made.sections}
    assert told["Overview"] == ["The tide gauge measures the height of the sea."]
    assert told["Goals"] == ["The tide gauge is to warn the harbour of floods."]
    assert told["Risks"] == ["The tide gauge fails when the float is stuck."]
    assert told["Next Steps"] == []
    text = artifact_as_markdown(made)
    assert "Open: nothing was found for this section that says what comes next" in text


def test_the_command_writes_markdown_that_check_reads_later(
    library: Library, tmp_path: Path
) -> None:
    out, receipt = tmp_path / "plan.md", tmp_path / "plan.json"
    files = ("--out", str(out), "--receipt", str(receipt))
    assert command(library, "blueprint", "--about", "tide gauge", *files).exit_code == 0
    at = ["--library", str(library.root)]
    for file in (out, receipt):
        assert CliRunner().invoke(cli, ["check", str(file), *at]).exit_code == 0
    gauge = library.root / "gauge.md"
    gauge.write_text(gauge.read_text().replace("a float, a pulley", "a radar"))
    library.index()
    for file in (out, receipt):
        checked = CliRunner().invoke(cli, ["check", str(file), *at])
        assert checked.exit_code == 12
        assert "a radar" in checked.output
    told = json.loads(command(library, "pdr", "--about", "tide gauge", "--json").output)
    assert told["sections"][0]["claims"][0]["citations"][0]["path"] == "gauge.md"


def test_a_template_of_ones_own_is_used_and_a_wrong_one_is_told(
    library: Library, tmp_path: Path
) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        'title = "Fault sheet: {about}"\n[[section]]\nheading = "Faults"\n'
        'question = "How does {about} fail?"\nopen = "how {about} fails"\ncues = ["fails"]\n'
    )
    told = command(library, "--template", str(own), "--about", "tide gauge").output
    assert told.startswith("# Fault sheet: tide gauge")
    assert "the float is stuck" in told
    with pytest.raises(
        SettingsError, match=r"own.toml has an unknown key 'titel' \(did you mean title"
    ):
        parse_template("titel = 'x'", "own.toml")
    for wrong in ("title = 3", "x = 1", "title = ''\nsection = []", "[["):
        with pytest.raises(SettingsError, match="template"):
            parse_template(wrong, "own.toml")
    with pytest.raises(SettingsError, match="`most` of “H” is -3"):
        parse_template(f"title = ''\n{SECTION}most = -3", "own.toml")
    assert command(library, "--about", "x").exit_code == 2
    assert command(library, "pdr", "--about", "walrus").exit_code == 11
    assert command(library, "blueprint", "--about", " ").exit_code == 2


@pytest.mark.parametrize("length", [1, 12])  # the long steps are cut into several chunks
def test_a_numbered_list_is_taken_whole(library: Library, length: int) -> None:
    steps = [
        f"{at}. Turn wheel {at} of the tide gauge{' a little' * length}." for at in range(1, 19)
    ]
    steps[7] = "8. Then read this number:"
    (library.root / "set.md").write_text(
        "# Setting the tide gauge\n\n## Procedure\n\n" + "\n".join(steps) + "\n"
    )
    library.index(policy="flat")
    if length > 1:
        assert len({one.chunk.start for one in library.search("wheel", top_k=20).results}) > 1
    made = make(library, template_named("workflow"), "tide gauge")
    (part,) = (one for one in made.sections if one.heading == "Steps")
    assert [claim.text for claim in part.claims if claim.citations[0].path == "set.md"] == steps


@pytest.mark.parametrize("numbers", ["1234", "1111"])
def test_a_list_of_which_one_item_names_the_subject_is_taken_whole_and_numbered(
    library: Library, numbers: str
) -> None:
    said = ["Fill the kettle.", "Boil the tea water.", "Warm the pot.", "Pour it in."]
    items = [f"{number}. {text}" for number, text in zip(numbers, said, strict=True)]
    (library.root / "morning.md").write_text("# Mornings\n\n" + "\n".join(items) + "\n")
    library.index()
    made = make(library, template_named("workflow"), "tea")
    assert lines_of(made)["Steps"] == items
    text = artifact_as_markdown(made)
    for number, words in enumerate(said, start=1):
        assert f"\n{number}. “{words}” [^{number}]\n" in text
    assert all(one.state == "valid" for one in library.check(text))
    assert len(library.check(text)) == 4
    altered = library.check(text.replace("“Warm the pot.” [^3]", "“Break the pot.” [^3]"))
    assert "misquoted" in [one.state for one in altered]


def test_code_is_no_line_and_what_introduces_it_introduces_nothing_else(library: Library) -> None:
    (library.root / "kiln.md").write_text(
        "# Kiln\n\n## Procedure\n\n```bash\n# Step one: heat the kiln slowly with the small "
        "flame.\nkiln --heat\n# Step two: check the kiln at every hour of it.\n```\n\n"
        "1. Heat the kiln with the lever. It then prints:\n\n"
        "        Run the kiln at 900 degrees for the whole of the day.\n\n"
        "Then the command for the kiln returns output similar to:\n\n"
        "```\nOpen the kiln after the bell has rung.\n```\n\n"
        "2. Cool the kiln with the big fan.\n\n"
        "Look at the kiln while it says this:\n\n"
        "    Close the kiln while the fire is out.\n"
    )
    library.index()
    text = artifact_as_markdown(make(library, template_named("workflow"), "kiln"))
    assert "Cool the kiln with the big fan." in text
    for code in ("Step one", "Step two", "900 degrees", "the bell", "fire is out", "similar to"):
        assert code not in text, code


SECTION = '[[section]]\nheading = "H"\nquestion = "What about {about}?"\n'


@pytest.mark.parametrize(
    ("more", "lines"),
    [
        ('cues = ["C++"]', ["The tide gauge is programmed in C++ by Ada."]),
        ('cues = ["#5"]', ["The tide gauge has the number #5 in our list."]),
        ('cues = ["alarm"]', ["The tide gauge knows four alarms by now."]),
        ('headings = ["Numbers"]', ["The tide gauge has the number #5 in our list."]),
        (
            "steps = true",
            [
                "Identify the tide gauge by its blue plate.",
                "Open the tide gauge with the small key.",
            ],
        ),
    ],
)
def test_a_section_takes_what_its_template_says_and_nothing_else(
    library: Library, more: str, lines: list[str]
) -> None:
    (library.root / "gauge.md").write_text(
        "# Tide gauge\n\nThe tide gauge knows four alarms by now. The tide gauge is programmed in "
        "C++ by Ada.\n\n## Numbers\n\nThe tide gauge has the number #5 in our list.\n\n"
        "## Key\n\nIdentify the tide gauge by its blue plate. Open the tide gauge with the small "
        "key.\n"
    )
    (library.root / "again.md").unlink()
    library.index()
    text = f'# Nothing fills in {{what}} here.\ntitle = "{{about}}"\n{SECTION}{more}\n'
    made = make(library, parse_template(text, "own"), "tide gauge")
    assert lines_of(made) == {"H": lines}


def test_english_templates_say_so_where_none_of_their_words_is_found(library: Library) -> None:
    (library.root / "pegel.md").write_text(
        "# Pegel\n\nDer Pegel misst die Höhe des Meeres.\n\nDer Pegel steht am alten Hafen.\n"
    )
    library.index()
    (notice,) = make(library, template_named("blueprint"), "Pegel").notices
    assert "English" in notice
    (library.root / "gong.md").write_text("# Gong\n\nThe gong of the hall is made of brass.\n")
    library.index()
    assert make(library, template_named("blueprint"), "gong").notices == ()
    german = f'title = "{{about}}"\n{SECTION}cues = ["misst"]\n'
    assert make(library, parse_template(german, "own"), "Pegel").notices == ()
    assert make(library, template_named("blueprint"), "tide gauge").notices == ()


def test_an_artifact_is_never_evidence_and_no_file_of_a_person_is_written_over(
    library: Library,
) -> None:
    plan, essay = library.root / "plan.md", library.root / "essay.md"
    made = command(library, "blueprint", "--about", "tide gauge", "--out", str(plan))
    assert made.exit_code == 0
    library.index()
    assert "plan.md" not in library.paths()
    essay.write_text(f"My own words.\n\n{plan.read_text()}")
    proof = library.root.parent / "proof.json"
    command(library, "blueprint", "--about", "tide gauge", "--receipt", str(proof))
    for option, file in (("--out", plan), ("--out", essay), ("--receipt", proof)):
        before = file.read_text()
        again = command(library, "blueprint", "--about", "tide gauge", option, str(file))
        assert again.exit_code == 2
        assert "is already there" in again.output
        assert file.read_text() == before
    same = ("--out", str(library.root / "x.md"), "--receipt", str(library.root / "." / "x.md"))
    assert command(library, "blueprint", "--about", "tide gauge", *same).exit_code == 2


def test_filters_hold_for_pages_that_are_read_from_end_to_end(library: Library) -> None:
    library.index(policy="wiki")  # each section is a chunk of its own
    made = make(library, template_named("blueprint"), "tide gauge", filters={"heading": "Goals"})
    lines = [claim.text for part in made.sections for claim in part.claims]
    assert lines == ["The tide gauge is to warn the harbour of floods."]


def test_an_artifact_is_one_entry_of_the_log(library: Library) -> None:
    make(library, template_named("blueprint"), "tide gauge")
    (one,) = library.queries()
    assert (one.verb, one.question, one.outcome) == ("make", "tide gauge", "answer")
    assert one.chunk_ids


def with_model(library: Library, service: Service) -> Library:
    profile = Profile(model="small", base_url=service.url, api_key_env="", api_key="k")
    return open_library(library.root, models=ModelAccess(profiles={"small": profile}))


def lines_of(made: Artifact) -> dict[str, list[str]]:
    return {part.heading: [claim.words for claim in part.claims] for part in made.sections}


def test_a_cautious_user_s_model_is_asked_for_every_section_a_little_freely(
    library: Library,
) -> None:
    library.index(model="minilm")  # which knows how likely an answer is
    blueprint = template_named("blueprint")
    with running_service() as service, with_model(library, service) as opened:
        service.plays(Reply({}, 400))
        careful = AskSettings(caution=1.0)
        made = make(opened, blueprint, "tide gauge", profile="small", asking=careful)
    assert len(service.requests) == len(blueprint.section)
    assert all(0.2 <= one["temperature"] <= 0.4 for one in service.requests)
    assert made.sections == make(library, blueprint, "tide gauge").sections


def test_a_section_of_which_the_model_says_nothing_new_keeps_the_documents_words(
    library: Library,
) -> None:
    library.index(model="minilm")
    always = '{"claim": "The tide gauge measures the height of the sea.", "evidence": [1, 2, 3]}\n'
    with running_service() as service, with_model(library, service) as opened:
        service.plays(said(always))
        made = make(opened, template_named("blueprint"), "tide gauge", profile="small")
    told = lines_of(made)
    assert told["Overview"] == ["The tide gauge measures the height of the sea."]
    assert told["Risks"] == ["The tide gauge fails when the float is stuck."]
    assert made.writer.startswith("openai:small")


def test_a_section_that_the_model_declines_is_open(library: Library) -> None:
    library.index(model="minilm")
    with running_service() as service, with_model(library, service) as opened:
        service.plays(said('{"claim": null, "evidence": []}\n'))
        made = make(opened, template_named("blueprint"), "tide gauge", profile="small")
    assert not any(lines_of(made).values())


def test_a_model_that_is_not_there_is_told_before_anything_is_gathered(library: Library) -> None:
    told: list[str] = []
    with pytest.raises(SettingsError, match="no language model for the profile 'typo'"):
        make(library, template_named("pdr"), "tide gauge", profile="typo", on_section=told.append)
    assert told == []


def test_what_a_model_makes_up_is_struck_and_where_it_fails_the_own_words_stand(
    library: Library,
) -> None:
    with running_service() as service, with_model(library, service) as opened:
        proven = '{"claim": "The tide gauge measures the height of the sea.", "evidence": [1]}\n'
        made_up = '{"claim": "The tide gauge costs 9,000 euros.", "evidence": [1]}\n'
        service.plays(said(made_up + proven), Reply({}, 400))
        made = make(opened, template_named("blueprint"), "tide gauge", profile="small")
    told = lines_of(made)
    assert not any("9,000" in one for each in told.values() for one in each)
    assert told["Overview"] == ["The tide gauge measures the height of the sea."]
    assert told["Risks"] == ["The tide gauge fails when the float is stuck."]
    assert made.writer.startswith("openai:small")
    assert any("400" in one for one in made.notices), made.notices


def test_a_real_model_writes_by_the_same_path_and_what_it_makes_up_is_struck(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrote: list[str] = []
    stream = RemoteGenerator.stream

    def overheard(self: RemoteGenerator, *asked: str, most_tokens: int) -> Iterator[str]:
        pieces = list(stream(self, *asked, most_tokens=most_tokens))
        wrote.append("".join(pieces))
        yield from pieces

    monkeypatch.setattr(RemoteGenerator, "stream", overheard)
    with language_model() as address:
        profile = Profile(model="smollm2", base_url=address, api_key_env="", api_key="k")
        models = ModelAccess(profiles={"small": profile})
        with open_library(library.root, models=models) as opened:
            made = make(opened, template_named("blueprint"), "tide gauge", profile="small")
    assert made.writer.startswith("openai:smollm2")
    in_other_words = [one for one in wrote if not any(one in text for text in TEXTS.values())]
    assert in_other_words
    assert not any(one in artifact_as_markdown(made) for one in in_other_words)
    lines = [line for each in lines_of(made).values() for line in each]
    assert lines
    assert all(any(line in text for text in TEXTS.values()) for line in lines)
