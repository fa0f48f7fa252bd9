"""Agents: who answers, what they see, and that a received folder brings none without consent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from model_service import Service, running_service, said
from pincite import open_library
from pincite.answer import draft
from pincite.engine.agents import SHIPPED, Agent, Source
from pincite.engine.consent import consent_file
from pincite.entrypoints.cli.main import cli
from pincite.errors import SettingsError
from pincite.records import Filters
from pincite.settings import PROFILES, AskSettings

NEEDS_CONSENT = 13
ABSTAINED = 11
QUESTION = "when does the lease of the harbour office end?"
Run = Callable[..., Result]
Write = Callable[..., Path]

OURS = draft.INSTRUCTION.replace("{most}", "5")


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "lease.md").write_text(
        "---\nagents: planner\n---\n# The lease\n\n"
        "The lease of the harbour office ends on 30 June 2025.\n"
    )
    (folder / "draft.md").write_text(
        "---\ntags: [draft]\n---\n# The draft\n\nThe lease of the harbour office ends in May.\n"
    )
    with open_library(folder) as library:
        library.index(model="hashing")
    settings = tmp_path / "settings"
    settings.mkdir()
    (settings / "config.toml").touch()
    monkeypatch.setenv("PINCITE_CONFIG", str(settings / "config.toml"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(notes: Path) -> Run:
    del notes
    return lambda *arguments, **environ: CliRunner(env=environ).invoke(cli, arguments)


@pytest.fixture
def written(notes: Path) -> Write:
    """An agent of the user's, or of the library's."""

    def write(name: str, text: str, folder: Path | None = None) -> Path:
        file = (folder or notes.parent / "settings" / "agents") / f"{name}.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    return write


@pytest.fixture
def service() -> Iterator[Service]:
    with running_service() as running:
        running.plays(said('{"claim": "The lease ends on 30 June 2025.", "evidence": [1]}\n'))
        yield running


def with_model(service: Service, profile: str = "cheap") -> dict[str, str]:
    name = f"PINCITE_LLM_{profile.upper()}"
    return {f"{name}_BASE_URL": service.url, f"{name}_MODEL": "small"}


def paths(result: Result) -> set[str]:
    claims = json.loads(result.stdout)["claims"]
    return {citation["path"] for claim in claims for citation in claim["citations"]}


def system_message(service: Service) -> str:
    (asked,) = [one["messages"][0]["content"] for one in service.requests]
    return str(asked)


@pytest.mark.parametrize("name", SHIPPED)
def test_an_agent_that_comes_with_pincite_can_be_read(name: str) -> None:
    source = Source(name, "pincite")
    agent = source.read(source.text())
    assert agent.persona
    assert agent.about
    assert not agent.profile  # which model writes is the user's choice


def test_an_agent_sees_what_is_labelled_for_it_or_for_nobody(run: Run, written: Write) -> None:
    written("planner", "")
    mine = run("ask", QUESTION, "--agent", "planner", "--json")
    others = run("ask", QUESTION, "--agent", "helper", "--json")
    unlabelled = run("ask", QUESTION, "--agent", "planner", "--where", "tag = draft", "--json")
    assert paths(mine) == paths(run("ask", QUESTION, "--json")) == {"lease.md"}
    assert paths(unlabelled) == paths(others) == {"draft.md"}


def test_its_filter_is_added_to_the_one_that_is_given(run: Run, written: Write) -> None:
    written("planner", "where = 'not tag = draft'")
    assert paths(run("ask", QUESTION, "--agent", "planner", "--json")) == {"lease.md"}
    both = run("ask", QUESTION, "--agent", "planner", "--where", "name = draft.md or type = pdf")
    assert both.exit_code == ABSTAINED
    assert "The agent planner sees only documents where not tag = draft." in both.stdout
    seen = Agent(name="a", where="tag = x or tag = y").seen(Filters(where="type = md"))
    assert (seen.agents, seen.where) == (("a", ""), "(tag = x or tag = y) and (type = md)")


def test_persona_and_hint_stand_between_our_own_rules(
    run: Run, written: Write, service: Service
) -> None:
    written("planner", 'persona = "Speak {like} a pirate."\nhint = "Mind the dates."')
    told = run("ask", QUESTION, "--agent", "planner", "--profile", "cheap", **with_model(service))
    assert "30 June 2025" in told.stdout
    rules, persona, again = system_message(service).partition(
        "Speak {like} a pirate.\nMind the dates."
    )
    assert rules.startswith(OURS)
    assert persona
    assert "only what the evidence says" in again


def test_without_an_agent_the_instruction_is_our_own_alone(run: Run, service: Service) -> None:
    run("ask", QUESTION, "--profile", "cheap", **with_model(service))
    assert system_message(service) == OURS


def test_its_profile_writes_unless_another_one_is_named(
    run: Run, written: Write, service: Service
) -> None:
    written("planner", "profile = 'premium'")
    asked = ("ask", QUESTION, "--agent", "planner", "--json")
    models = with_model(service, "premium")
    assert json.loads(run(*asked, **models).stdout)["writer"]
    assert json.loads(run(*asked, "--profile", "none", **models).stdout)["writer"] == ""
    missing = run(*asked)
    assert missing.exit_code == 2
    assert "there is no language model for the profile 'premium'" in missing.stderr


def test_its_output_is_markdown_that_can_be_checked(
    run: Run, written: Write, tmp_path: Path
) -> None:
    written("planner", "output = 'markdown'")
    told = run("ask", QUESTION, "--agent", "planner")
    assert told.stdout.startswith("**Question:**")
    (tmp_path / "answer.md").write_text(told.stdout)
    assert run("check", str(tmp_path / "answer.md")).exit_code == 0


def test_an_unknown_agent_is_told_with_those_that_there_are(run: Run) -> None:
    told = run("ask", QUESTION, "--agent", "helpr")
    assert told.exit_code == 2
    assert "there is no agent 'helpr' (did you mean helper?)" in told.stderr
    assert ", ".join(sorted(SHIPPED)) in told.stderr
    assert "there is no agent '../lease'" in run("ask", "x", "--agent", "../lease").stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("persona = ", "is not TOML"),
        ("personna = 'x'", "unknown key 'personna' (did you mean persona?); known are: about,"),
        ("name = 'x'", "unknown key 'name'"),
        ("hint = 3", "Expected `str`, got `int` in `hint`"),
        ("profile = 'huge'", f"profile must be one of: {', '.join((*PROFILES, 'none'))}"),
        ("output = 'html'", "output is 'html'; it can be: text, markdown"),
        ("where = 'typ = pdf'", "where is no filter: "),
        (f"persona = '{'x' * 5_000}'", "persona and hint are longer than 4,000 characters"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_file_and_key(
    run: Run, written: Write, text: str, told: str
) -> None:
    file = written("planner", text)
    result = run("ask", QUESTION, "--agent", "planner")
    assert result.exit_code == 2
    assert f"{file}" in result.stderr
    assert told in result.stderr
    listed = {one["name"]: one for one in json.loads(run("agents", "list", "--json").stdout)}
    assert told in listed["planner"]["problem"]  # and the others can still be listed
    assert not listed["helper"]["problem"]


def test_a_new_agent_is_a_template_that_works_and_replaces_nothing(run: Run, notes: Path) -> None:
    made = json.loads(run("agents", "new", "my-agent", "--json").stdout)
    file = notes.parent / "settings" / "agents" / "my-agent.toml"
    assert made == {"name": "my-agent", "file": str(file)}
    assert run("ask", QUESTION, "--agent", "my-agent").exit_code == 0
    file.write_text("about = 'edited'\n")
    again = run("agents", "new", "my-agent")
    assert again.exit_code == 2
    assert "already there" in again.stderr
    assert "edited" in run("agents", "show", "my-agent").stdout
    assert json.loads(run("agents", "show", "my-agent", "--json").stdout)["about"] == "edited"
    assert "cannot be the name" in run("agents", "new", "../x").stderr
    assert run("agents", "new", "x", PINCITE_CONFIG="/dev/null").exit_code == 2


def test_ones_own_agent_goes_before_the_one_that_comes_with_pincite(
    run: Run, written: Write
) -> None:
    written("helper", "about = 'mine'")
    assert "mine  (yours)" in run("agents", "list").stdout


def test_an_agent_in_a_library_is_used_only_after_consent_to_its_very_text(
    run: Run, written: Write, notes: Path
) -> None:
    inside = notes / ".index" / "agents"
    written("planner", "where = 'not tag = draft'", inside)
    asked = ("ask", QUESTION, "--agent", "planner", "--json")
    refused = run(*asked)
    assert refused.exit_code == NEEDS_CONSENT
    assert "brings instructions for language models, the agent planner" in refused.stderr
    assert "not allowed yet" in run("agents", "list").stdout
    assert "not tag = draft" in run("agents", "show", "planner").stdout  # to be read before
    assert "the agent planner" in run("trust", "--yes").stdout
    digest = hashlib.sha256((inside / "planner.toml").read_bytes()).hexdigest()
    assert digest in consent_file().read_text()  # a part of it another text may have
    assert f"{digest[:16]}…)" in run("trust", "--list").stdout
    assert paths(run(*asked)) == {"lease.md"}
    written("planner", "where = 'not tag = drafts'", inside)
    assert run(*asked).exit_code == NEEDS_CONSENT


def test_an_agent_in_a_library_chooses_no_model_and_replaces_no_other(
    run: Run, written: Write, notes: Path
) -> None:
    inside = notes / ".index" / "agents"
    written("planner", "profile = 'cheap'", inside)
    assert "profile is not allowed here" in run("ask", QUESTION, "--agent", "planner").stderr
    written("helper", "persona = 'evil'", inside)
    assert "evil" not in run("agents", "show", "helper").stdout
    assert run("ask", QUESTION, "--agent", "helper").exit_code == 0


def test_a_link_in_a_library_is_no_agent(run: Run, written: Write, notes: Path) -> None:
    elsewhere = written("secret", "about = 'x'", notes.parent)
    inside = notes / ".index" / "agents"
    inside.mkdir()
    (inside / "planner.toml").symlink_to(elsewhere)
    told = run("agents", "show", "planner")
    assert told.exit_code == 2
    assert "is a link" in told.stderr


def test_the_filter_that_search_calls_agent_still_works_and_says_what_to_use(run: Run) -> None:
    for command in ("search", "context"):
        told = run(command, "lease", "--agent", "planner")
        assert told.exit_code == 0
        assert "draft.md" not in told.stdout
        assert "use --where 'agent = planner'" in told.stderr
    assert run("search", "lease", "--where", "agent = planner").stderr == ""
    several = run("search", "lease", "--agent", "site planner", "--agent", "x").stderr
    assert """--where 'agent in ("site planner", x)'""" in several


def test_a_persona_has_an_end() -> None:
    with (
        pytest.raises(SettingsError, match="persona is longer"),
        open_library(".") as library,
    ):
        library.ask("x", asking=AskSettings(persona="x" * 5_000))
