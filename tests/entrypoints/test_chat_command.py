"""`pincite chat`: a conversation through a pipe, at a terminal, with and without a model."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from model_service import Reply, Service, Streamed, event, running_service, said
from pincite import open_library
from pincite.entrypoints.cli.main import cli

QUESTION = "when does the lease of the harbour office end?"
NOT_DOCUMENTS = "Not from your documents:"
Run = Callable[..., Result]


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "lease.md").write_text(
        "# The lease\n\nThe lease of the harbour office ends on 30 June 2025.\n"
        "The lease of the harbour office was signed by Ada Garrow.\n"
    )
    (folder / "buoy.md").write_text("# The buoy\n\nThe yellow buoy lies in 27 metres of water.\n")
    with open_library(folder) as library:
        library.index(model="hashing")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(notes: Path) -> Run:
    del notes

    def typed(*lines: str, options: tuple[str, ...] = (), **environ: str) -> Result:
        text = "".join(f"{line}\n" for line in lines)
        return CliRunner(env=environ).invoke(cli, ["chat", *options], input=text)

    return typed


@pytest.fixture
def service() -> Iterator[Service]:
    with running_service() as running:
        yield running


def with_model(service: Service) -> dict[str, str]:
    return {
        "PINCITE_LLM_CHEAP_BASE_URL": service.url,
        "PINCITE_LLM_CHEAP_MODEL": "small",
        "PINCITE_PROFILE": "cheap",
    }


def objects(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_each_line_of_a_pipe_is_answered_with_its_place(run: Run) -> None:
    told = run(QUESTION, "", "how deep is the water at the yellow buoy?")
    assert told.exit_code == 0
    assert "[1] “The lease of the harbour office ends on 30 June 2025.”" in told.stdout
    assert "    lease.md — The lease (line 3)" in told.stdout
    assert "27 metres" in told.stdout
    assert "looking" not in told.output  # nor a prompt: there is no terminal
    assert ">" not in told.output


def test_a_question_that_points_back_is_understood_and_shown(run: Run) -> None:
    told = run(QUESTION, "who signed it?", "/why")
    assert "(who signed it (lease harbour office end)?)" in told.stdout
    assert "Ada Garrow" in told.stdout
    assert "Understood as: who signed it (lease harbour office end)?" in told.stdout
    forgotten = run(QUESTION, "/new", "who signed it?")
    assert "lease harbour office end" not in forgotten.stdout


def test_with_json_each_answer_is_one_line(run: Run) -> None:
    told = run(QUESTION, "who signed it?", "/why", "/agent nobody", options=("--json",))
    first, second, refused = objects(told)
    assert (first["outcome"], first["asked"], first["question"]) == ("answer", QUESTION, QUESTION)
    assert (second["asked"], second["question"]) == (
        "who signed it?",
        "who signed it (lease harbour office end)?",
    )
    assert refused["error"]["kind"] == "SettingsError"
    assert "Understood as" in told.stderr


def test_sources_and_why_tell_about_the_last_answer(run: Run) -> None:
    early = run("/sources", "/why")
    assert early.stderr.count("there is no answer yet") == 2
    told = run(QUESTION, "/sources", "/why", options=("--where", "type = md"))
    assert "[1] lease.md — The lease (line 3)" in told.stdout
    assert "Only this was looked at: (type = md)" in told.stdout
    assert "nobody, it is in the documents' own words" in told.stdout


def test_why_there_is_no_answer_names_what_is_missing(run: Run) -> None:
    told = run("who repairs the zeppelin?", "/why", "/sources")
    assert "No answer (" in told.stdout
    assert "There is no answer. Nearest:" in told.stdout


def test_an_error_ends_the_answer_and_not_the_chat(run: Run) -> None:
    told = run("/nix", "/agent nobdy", "/save", QUESTION, "/save ~no-such-user/x", "/save no/where")
    assert "~no-such-user/x cannot be the name of a file" in told.stderr
    assert "no/where cannot be written" in told.stderr
    assert "there is no /nix; /help lists what there is" in told.stderr
    assert "there is no agent 'nobdy'" in told.stderr
    assert "30 June 2025" in told.stdout
    assert told.exit_code == 1
    assert "/plain" in run("/help").stdout
    assert run("/quit", QUESTION).stdout == ""


def test_any_number_of_questions_takes_one_connection(notes: Path) -> None:
    asked = f"{QUESTION}\n" * 60
    done = subprocess.run(
        ["/bin/sh", "-c", 'ulimit -n 96 && exec "$0" -m pincite chat --json', sys.executable],
        input=asked,
        capture_output=True,
        text=True,
        check=True,
        cwd=notes,
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one.get("outcome") for one in told] == ["answer"] * 60


def test_what_cannot_work_is_told_before_the_first_question(run: Run, tmp_path: Path) -> None:
    assert run(options=("--where", "typ = md")).exit_code == 2
    assert run(options=("--profile", "cheap")).exit_code == 2
    assert run(options=("--agent", "nobody")).exit_code == 2
    assert run(options=("-l", str(tmp_path))).exit_code == 3


def test_an_agent_can_be_changed_in_the_middle(run: Run) -> None:
    told = run(QUESTION, "/agent reviewer", QUESTION, "/why", "/agent", "/agent none", "/agent")
    assert "reviewer answers from now on." in told.stdout
    assert "Agent: reviewer" in told.stdout
    assert 'agent in (reviewer, "")' in told.stdout
    assert "nobody in particular answers" in told.stdout
    assert run(QUESTION, options=("--agent", "researcher")).stdout.startswith("**Question:**")


def test_the_last_answer_and_the_whole_conversation_can_be_saved_and_checked(
    run: Run, service: Service, tmp_path: Path
) -> None:
    service.plays(
        said('{"claim": "It ends on 30 June 2025.", "evidence": [1]}\n'),
        said("The moon. [1](http://evil)"),
    )
    one, every = tmp_path / "one answer.md", tmp_path / "every.md"
    told = run(
        QUESTION,
        f"/save {one}",
        "/plain",
        "what lies beyond?",
        f"/save all {every}",
        f"/save {one}",
        **with_model(service),
    )
    assert "is already there; name another file" in told.stderr
    assert one.read_text().startswith("**Question:** when does the lease")
    saved = every.read_text()
    assert "[^1-1]: “" in saved
    assert "*Not from the documents: written by openai:small" in saved
    assert "\\[1\\](http\\:" in saved  # no link
    for file in (one, every):
        checked = CliRunner().invoke(cli, ["check", str(file)])
        assert (checked.exit_code, "1 valid" in checked.stdout) == (0, True)


def test_what_a_model_said_without_documents_and_a_refusal_are_no_evidence_when_saved(
    run: Run, service: Service, notes: Path
) -> None:
    service.plays(said("The moon is made of cheese."))
    run(
        "zzyzx?",
        "/save refusal.md",
        "/plain",
        "what is the moon made of?",
        "/save moon.md",
        "/save all every.md",
        **with_model(service),
    )
    assert "cheese" in (notes / "moon.md").read_text()
    assert (notes / "refusal.md").is_file()
    assert (notes / "every.md").is_file()
    (notes / "mine.md").write_text("**Question:** is this mine?\n\nYes, *not* from pincite.\n")
    with open_library(notes) as library:
        library.index()
        assert sorted(library.paths()) == ["buoy.md", "lease.md", "mine.md"]


def test_plain_lets_the_model_answer_and_says_that_it_is_not_from_documents(
    run: Run, service: Service
) -> None:
    service.plays(said("I thi", "nk so.\x1b[2J"))
    told = run("/plain", "is it far?", "/sources", "/why", "/plain", **with_model(service))
    assert f"{NOT_DOCUMENTS}\nI think so.\\u001b[2J\n" in told.stdout
    assert "without any document)" in told.stdout
    assert "None: not from your documents." in told.stdout
    assert "Retrieval is on" in told.stdout
    (asked,) = service.requests
    assert "lease" not in json.dumps(asked)  # nothing of the library is sent
    as_json = run("/plain", "is it far?", options=("--json",), **with_model(service))
    (plain,) = objects(as_json)
    assert (plain["outcome"], plain["writer"]) == ("plain", "openai:small at 127.0.0.1")


def test_a_line_that_failed_is_told_by_the_exit_code_and_a_refusal_is_no_failure(
    run: Run, service: Service
) -> None:
    service.plays(Reply({"error": "no"}, status=401))
    told = run("/plain", "is it far?", "/plain", "/agent none", QUESTION, **with_model(service))
    assert told.exit_code == 1
    assert "Error: " in told.stderr
    assert run("who repairs the zeppelin?").exit_code == 0
    assert run("/sources").exit_code == 1


def test_without_a_model_plain_says_that_there_is_nothing_to_answer_with(run: Run) -> None:
    told = run("/plain", QUESTION)
    assert "there is nothing to answer with" in told.stderr
    assert "30 June 2025" in told.stdout  # retrieval stays on


def test_the_model_condenses_a_question_with_those_before_it(run: Run, service: Service) -> None:
    claim = said('{"claim": "It ends on 30 June 2025.", "evidence": [1]}\n')
    service.plays(claim, said("who signed the lease of the harbour office?"), claim)
    told = run(QUESTION, "and by whom was it signed?", **with_model(service))
    assert "(who signed the lease of the harbour office?)" in told.stdout


# At a terminal


@dataclass
class Terminal:
    """Somebody who types and reads."""

    process: subprocess.Popen[bytes]
    screen: int
    seen: str = ""
    _at: int = field(default=0, init=False)

    def reads(self, words: str, silent: Callable[[], None] = lambda: None) -> None:
        """Wait until the words are there, after what was read before."""
        until = time.monotonic() + 60
        while words not in self.seen[self._at :]:
            assert time.monotonic() < until, self.seen
            if select.select([self.screen], [], [], 1)[0]:
                with suppress(OSError):
                    self.seen += os.read(self.screen, 4096).decode(errors="replace")
            else:
                silent()
        self._at = self.seen.index(words, self._at) + len(words)

    def types(self, text: str) -> None:
        os.write(self.screen, text.encode())


@pytest.fixture
def sits(notes: Path) -> Iterator[Callable[..., Terminal]]:
    del notes
    started: list[Terminal] = []

    def start(*options: str, **environ: str) -> Terminal:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "pincite", "chat", *options],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "dumb", **environ},
            start_new_session=True,
        )
        os.close(theirs)
        started.append(Terminal(process, ours))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()
        os.close(one.screen)


def history(notes: Path) -> Path:
    return notes.parent / "state" / "pincite" / "chat-history"


def test_at_a_terminal_it_prompts_remembers_questions_and_ends_with_ctrl_d(
    sits: Callable[..., Terminal], notes: Path
) -> None:
    first = sits()
    first.reads("> ")
    first.types(f"{QUESTION}\n")
    first.reads("looking…")
    first.reads("30 June 2025")
    first.reads("> ")
    first.types("/why\n")
    first.reads("claim(s)")
    first.reads("> ")
    first.types("\x04")
    assert first.process.wait(30) == 0
    assert history(notes).read_text() == f"{QUESTION}\n"  # commands are not kept
    assert stat.S_IMODE(history(notes).stat().st_mode) == 0o600
    second = sits()
    second.reads("> ")
    second.types("\x1b[A\n")  # arrow up
    second.reads("30 June 2025")


@pytest.mark.parametrize("log", ["off", "facts"])
def test_no_question_is_kept_where_the_log_keeps_none(
    sits: Callable[..., Terminal], notes: Path, log: str
) -> None:
    chat = sits(PINCITE_LOG=log)
    chat.reads("> ")
    chat.types(f"{QUESTION}\n")
    chat.reads("30 June 2025")
    chat.reads("> ")
    chat.types("/quit\n")
    assert chat.process.wait(30) == 0
    assert not history(notes).exists()


def test_ctrl_c_stops_an_answer_and_not_the_chat(
    sits: Callable[..., Terminal], service: Service
) -> None:
    piece = event('{"claim": "It ends on 30 June 2025.", "evidence": [1]}\n')
    service.plays(Streamed([piece], end="hold"), Reply({"error": "no"}, status=401))
    chat = sits(**with_model(service))
    chat.reads("> ")
    chat.types(f"{QUESTION}\n")
    chat.reads("30 June 2025")
    chat.process.send_signal(signal.SIGINT)
    chat.reads("(stopped)")
    chat.reads("> ")
    # While readline draws its prompt it misses one.
    chat.reads("Ctrl-D or /quit ends", partial(chat.process.send_signal, signal.SIGINT))
    chat.types(f"{QUESTION}\n")
    chat.reads("The language model did not finish")
    chat.reads("> ")
    chat.types("\x04")
    assert chat.process.wait(30) == 0


def test_answers_go_to_a_file_without_prompts(notes: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pincite", "chat"],
        input=f"{QUESTION}\n",
        capture_output=True,
        text=True,
        check=True,
        cwd=notes,
    )
    assert not re.search(r"\x1b|looking|> ", done.stdout + done.stderr)
    assert "30 June 2025" in done.stdout
