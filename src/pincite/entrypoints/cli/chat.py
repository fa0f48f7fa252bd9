"""`pincite chat`: questions one after the other, each answered as `ask` does.

Answers are made in a thread beside the one that listens, so that Ctrl-C stops one at once, whatever
it waits for: a service, a language model, or a search. It is one thread for all of them, as each
thread has its own database connection.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import click

from pincite.answer.condense import condense
from pincite.engine import Library
from pincite.engine.agents import Agent
from pincite.entrypoints import answers
from pincite.entrypoints.cli.agents import chosen_agent
from pincite.entrypoints.cli.ask import print_outcome, writer_of
from pincite.entrypoints.cli.common import (
    as_json_option,
    echo_lines,
    library_option,
    open_for,
    say,
    with_keys,
)
from pincite.entrypoints.cli.tuning import agent_option, where_option
from pincite.entrypoints.config import user_settings
from pincite.entrypoints.render import Json, faint, highlight, strong
from pincite.errors import PinciteError, SearchCancelled, SettingsError
from pincite.files import make_folder, replace_file
from pincite.ports import Writer
from pincite.records import Abstention, Answer, Claim, Filters, Outcome
from pincite.settings import PROFILES, UserSettings
from pincite.text.printable import one_line, printable

if TYPE_CHECKING:
    from pincite.entrypoints.client import RemoteLibrary

_MOST_REMEMBERED = 1_000  # questions of before, for the arrow keys
_MOST_TOKENS = 700  # of an answer without documents
_MOST_TURNS = 10  # of the conversation that such an answer is made from
_LOOKED = 0.1  # seconds between looks at whether an answer is there: not every wait heeds Ctrl-C
_EXIT_PARTLY_FAILED = 1  # as where some files of an index run failed
_NOT_DOCUMENTS = "Not from your documents:"
_PLAIN = """\
You are in a conversation and have no documents. Answer the last question in a few sentences from
what you know. Say so where you do not know. Never name a document, a page or a source."""
_HELP = {
    "/sources": "the places that the last answer rests on",
    "/why": "why the last answer came out so",
    "/plain": "retrieval off and on: without it the language model answers on its own",
    "/agent NAME": "let another agent answer; `none` is nobody in particular",
    "/save [all] [FILE]": "write the last answer, or the whole conversation, as Markdown",
    "/new": "forget the conversation",
    "/help": "these lines",
    "/quit": "the end; so does Ctrl-D. Ctrl-C stops an answer",
}


@dataclass(frozen=True)
class Turn:
    """A question with what came of it."""

    asked: str  # as it was typed
    question: str  # as it was understood, by itself
    told: Outcome | None = None
    plain: str = ""  # what a language model said without documents
    writer: str = ""
    seen: Filters = Filters()
    agent: str = ""


@click.command()
@click.option(
    "--profile",
    type=click.Choice((*PROFILES, "none")),
    help="The language model that writes, as in `pincite ask`.  [env var: PINCITE_PROFILE]",
)
@agent_option
@where_option
@library_option
@as_json_option
def chat(
    profile: str | None, agent: str | None, where: str | None, library: Path, as_json: bool
) -> None:
    """Ask one question after the other; each may refer to those before it.

    Questions are lines of standard input. `/help` lists what else can be typed. With --json each
    answer is one line. Through a pipe the exit code is 1 if a line failed.

    Example: pincite chat --agent researcher
    """
    who = chosen_agent(agent, library)
    own = user_settings(os.environ)
    given = Filters(where=where)
    with open_for(library, with_keys(own.profiles)) as opened:
        chatting = Chat(opened, library, own, profile, given, as_json)
        chatting.use(who)
        if isinstance(opened, Library):
            opened.require_consent()  # asked for now, and not in the middle of an answer
        at_terminal = sys.stdin.isatty()
        if at_terminal and not as_json:
            say(faint("Ask, or type /help. Ctrl-C stops an answer, Ctrl-D ends."), err=True)
        try:
            for line in _lines(at_terminal, lambda: chatting.prompt, keep=own.log == "full"):
                try:
                    if not chatting.take(line):
                        break
                except KeyboardInterrupt:  # when the answer had just come
                    if not at_terminal:
                        raise
        finally:
            chatting.worker.end()
    if chatting.has_failed and not at_terminal:
        raise SystemExit(_EXIT_PARTLY_FAILED)


class Worker:
    """A thread that makes one answer after the other."""

    def __init__(self) -> None:
        self._asked: SimpleQueue[tuple[Context, Callable[[], Turn]] | None] = SimpleQueue()
        self._made: SimpleQueue[Turn | BaseException] = SimpleQueue()
        Thread(target=self._work, name="pincite-chat", daemon=True).start()

    def make(self, answer: Callable[[], Turn]) -> Turn | BaseException:
        """What comes of it. After Ctrl-C it is of no more use: the next would get this one's."""
        self._asked.put((copy_context(), answer))
        while True:
            with suppress(Empty):
                return self._made.get(timeout=_LOOKED)

    def end(self) -> None:
        """Let the thread go, once it is done."""
        self._asked.put(None)

    def _work(self) -> None:
        while (asked := self._asked.get()) is not None:
            context, answer = asked
            try:
                self._made.put(context.run(answer))
            except BaseException as error:  # noqa: BLE001 — raised again where it is waited for
                self._made.put(error)


@dataclass
class Chat:
    """A conversation with one library."""

    library: Library | RemoteLibrary
    folder: Path
    own: UserSettings
    chosen: str | None  # the profile that was named
    given: Filters
    as_json: bool
    agent: Agent = field(default_factory=Agent)
    profile: str | None = None  # the one that writes now
    writer: Writer | None = None  # its language model
    is_plain: bool = False
    turns: list[Turn] = field(default_factory=list)
    has_failed: bool = False
    worker: Worker = field(default_factory=Worker)

    @property
    def prompt(self) -> str:
        """What stands before the cursor."""
        return f"{'plain ' if self.is_plain else ''}{self.agent.name}> "

    def use(self, agent: Agent) -> None:
        """Let this agent answer from now on; an error where it cannot."""
        agent.seen(self.given).check()
        profile = writer_of(self.chosen, agent, self.own)
        if profile is not None and isinstance(self.library, Library):
            self.writer = self.library.writer(profile)
        else:
            self.writer = None
        self.profile, self.agent = profile, agent

    def take(self, line: str) -> bool:
        """Do what a line says; False where it says that this is the end."""
        line = line.strip()
        if not line.startswith("/"):
            if line:
                self._answer(line)
            return True
        name, _, rest = line.partition(" ")
        commands: dict[str, Callable[[str], Iterable[str]]] = {
            "/plain": self._switch,
            "/sources": self._sources,
            "/why": self._why,
            "/agent": self._choose,
            "/save": self._save,
            "/new": self._forget,
            "/help": lambda _: (f"{key:<20} {what}" for key, what in _HELP.items()),
        }
        if name in ("/quit", "/exit"):
            return False
        try:
            if name not in commands:
                raise SettingsError(f"there is no {name}; /help lists what there is")
            self._note(list(commands[name](rest.strip())))
        except PinciteError as error:
            self._fail(error, line)
        except click.Abort:  # instead of a yes or no
            say("", err=True)
        return True

    def _note(self, lines: Iterable[str]) -> None:
        """Say something that is no answer; with --json only answers go to standard output."""
        echo_lines(lines, err=self.as_json)

    def _fail(self, error: PinciteError, asked: str) -> None:
        self.has_failed = True
        if isinstance(error, SearchCancelled) and not self.as_json:
            say(faint("(stopped)"))
        elif self.as_json:
            kind = type(error).__name__
            _print_line({"asked": asked, "error": {"kind": kind, "message": str(error)}})
        else:
            say(f"Error: {printable(str(error), keep=chr(10))}", err=True)

    # Answers

    def _answer(self, line: str) -> None:
        """Answer a question, until Ctrl-C."""
        stop, note = Event(), Note(is_shown=not self.as_json and sys.stderr.isatty())
        work = self._plainly if self.is_plain else self._from_documents
        result: Turn | BaseException
        try:
            result = self.worker.make(lambda: work(line, stop, note))
        except KeyboardInterrupt:
            stop.set()  # what is still under way ends at its next stage, and is not shown
            self.worker.end()
            self.worker = Worker()
            result = SearchCancelled("stopped")
        note.clear()
        if isinstance(result, PinciteError):
            self._fail(result, line)
        elif isinstance(result, BaseException):
            raise result
        else:
            self.turns.append(result)
        if not self.as_json:
            say("")

    def _from_documents(self, line: str, stop: Event, note: Note) -> Turn:
        """What the documents say; claims are shown as they are checked."""
        question = condense([*(one.asked for one in self.turns), line], self.writer)
        copy = self.agent.output == "markdown"
        if question != one_line(line) and not self.as_json and not stop.is_set():
            note.clear()
            say(faint(f"({printable(question)})"))
            note.show()
        shown = 0

        def show(claim: Claim) -> None:
            nonlocal shown
            shown += 1
            if not self.as_json and not copy and not stop.is_set():
                note.clear()
                echo_lines(answers.claim_as_text(shown, claim))

        seen = self.agent.seen(self.given)
        asking = self.agent.asking(self.own.asking)
        if isinstance(self.library, Library):
            told = self.library.ask(
                question,
                filters=seen,
                asking=asking,
                profile=self.profile,
                judge=self.own.judge,
                on_claim=show,
                cancelled=stop.is_set,
            )
        else:
            told = self.library.ask(question, filters=seen, asking=asking, on_claim=show)
        if stop.is_set():
            raise SearchCancelled("stopped")
        note.clear()
        name = told.writer if isinstance(told, Answer) else ""
        turn = Turn(line, question, told, writer=name, seen=seen, agent=self.agent.name)
        if self.as_json:
            _print_line({**answers.outcome_as_json(told), "asked": line, "agent": turn.agent})
        else:
            print_outcome(told, as_json=False, copy=copy)
        return turn

    def _plainly(self, line: str, stop: Event, note: Note) -> Turn:
        """What the language model says without documents, marked as that."""
        writer = self.writer
        if writer is None:
            raise SettingsError(_NO_WRITER)
        before = "\n".join(
            f"Question: {one_line(turn.asked)}" + (f"\nAnswer: {turn.plain}" if turn.plain else "")
            for turn in self.turns[-_MOST_TURNS:]
        )
        manner = f"\n{self.agent.manner}" if self.agent.manner else ""
        said = ""
        asked = f"{before}\nQuestion: {one_line(line)}".strip()
        for piece in writer.stream(_PLAIN + manner, asked, most_tokens=_MOST_TOKENS):
            if stop.is_set():
                raise SearchCancelled("stopped")
            if not self.as_json:
                if not said:
                    note.clear()
                    say(highlight(_NOT_DOCUMENTS))
                say(printable(piece, keep="\n"), nl=False)
            said += piece
        if self.as_json:
            plain = {"outcome": "plain", "question": line, "text": said, "writer": writer.name}
            _print_line({**plain, "asked": line, "agent": self.agent.name})
        else:
            say(f"\n{faint(f'(written by {printable(writer.name)}, without any document)')}")
        return Turn(line, line, plain=said, writer=writer.name, agent=self.agent.name)

    # Commands

    def _last(self) -> Turn:
        if not self.turns:
            raise SettingsError("there is no answer yet; ask something first")
        return self.turns[-1]

    def _switch(self, _: str) -> Iterator[str]:
        if not self.is_plain and self.writer is None:
            raise SettingsError(_NO_WRITER)
        self.is_plain = not self.is_plain
        if self.is_plain:
            yield "Retrieval is off: the language model answers without your documents, until the"
            yield "next /plain. Nothing of it is checked."
        else:
            yield "Retrieval is on: answers come from your documents."

    def _sources(self, _: str) -> Iterator[str]:
        told = self._last().told
        if told is None:
            yield f"None: {_NOT_DOCUMENTS.rstrip(':').lower()}."
        elif isinstance(told, Abstention):
            yield f"There is no answer{'. Nearest:' if told.nearest else ', and nothing near.'}"
            yield from (f"    {strong(printable(one.citation))}" for one in told.nearest)
        else:
            for number, claim in enumerate(told.claims, start=1):
                for one in claim.citations:
                    yield f"[{number}] {strong(printable(one.citation))}"

    def _why(self, _: str) -> Iterator[str]:
        turn = self._last()
        if turn.question != one_line(turn.asked):
            yield f"Understood as: {printable(turn.question)}"
        if turn.agent:
            yield f"Agent: {turn.agent}"
        told = turn.told
        if told is None:
            yield f"{_NOT_DOCUMENTS} {printable(turn.writer)} answered without any (/plain)."
            return
        if not turn.seen.none_given:
            yield f"Only this was looked at: {printable(str(turn.seen.condition))}"
        if told.probability is not None:
            needed = self.own.asking.caution
            parts = ", ".join(f"{name} {value:.2f}" for name, value in told.parts.items())
            yield f"The best place answers with a probability of {told.probability:.2f};"
            yield f"  {needed:.2f} is needed for an answer" + (f" ({parts})." if parts else ".")
        if isinstance(told, Abstention):
            yield f"No answer ({told.reason}): {printable(told.message)}"
            if told.missing_terms:
                yield f"Nowhere in the library: {', '.join(map(printable, told.missing_terms))}"
        else:
            judges = dict.fromkeys(f"{one.state}: {one.judge}" for one in told.claims)
            by = printable(told.writer) or "nobody, it is in the documents' own words"
            yield f"{len(told.claims)} claim(s) ({printable(', '.join(judges))}), written by {by}."
        yield from map(printable, (*told.asides.notices, *told.asides.notes))

    def _choose(self, name: str) -> Iterator[str]:
        if not name:
            who = self.agent.name or "nobody in particular"
            yield f"{who} answers; `pincite agents list` names the others, /agent NAME changes it."
            return
        self.use(Agent() if name == "none" else chosen_agent(name, self.folder))
        yield f"{self.agent.name or 'Nobody in particular'} answers from now on."

    def _save(self, rest: str) -> Iterator[str]:
        from pincite.entrypoints.cli.questions import write_text

        last = self._last()
        first, _, other = rest.partition(" ")
        is_all = first == "all"
        named = (other if is_all else rest).strip().strip("\"'")
        what = "conversation" if is_all else "answer"
        try:
            file = Path(named or time.strftime(f"{what}-%Y-%m-%d-%H%M%S.md")).expanduser()
            is_there = os.path.lexists(file)
        except (RuntimeError, ValueError) as error:  # ~nobody; a zero byte
            raise SettingsError(f"{named} cannot be the name of a file: {error}") from None
        if is_there:
            raise SettingsError(f"{file} is already there; name another file")
        turns = list(enumerate(self.turns, start=1)) if is_all else [(0, last)]
        write_text(file, "\n".join(_as_markdown(turn, number) for number, turn in turns))
        yield f"Written to {printable(str(file))}"

    def _forget(self, _: str) -> Iterator[str]:
        self.turns.clear()
        yield "Forgotten: the next question stands by itself."


_NO_WRITER = (
    "without documents there is nothing to answer with: no language model is chosen; name one with "
    "--profile, or in your settings (`pincite config path`)"
)
_LOOKING = "looking…"


class Note:
    """That an answer is being made, on a terminal, until there is something to see."""

    def __init__(self, *, is_shown: bool) -> None:
        self._is_shown = is_shown
        self._is_there = False
        self.show()

    def show(self) -> None:
        """Show it."""
        if self._is_shown:
            self._is_there = True
            say(faint(_LOOKING), err=True, nl=False)

    def clear(self) -> None:
        """Take it away."""
        if self._is_there:
            self._is_there = False
            say(f"\r{' ' * len(_LOOKING)}\r", err=True, nl=False)


def _print_line(value: Json) -> None:
    say(printable(json.dumps(value, ensure_ascii=False)))


def _as_markdown(turn: Turn, number: int) -> str:
    """An answer as `ask --copy` prints it; of several, each has footnotes of its own."""
    from pincite.answer.footnotes import escaped, outcome_as_markdown
    from pincite.text.own_files import NO_DOCUMENTS

    if turn.told is None:
        said = "\n\n".join(escaped(one_line(part)) for part in turn.plain.split("\n") if part)
        by = f"{NO_DOCUMENTS}{escaped(turn.writer)} without any.*"
        return f"**Question:** {escaped(one_line(turn.asked))}\n\n{by}\n\n{said}\n"
    text = outcome_as_markdown(turn.told)
    # What the documents say is escaped: only our own marks look like this.
    return re.sub(r"(?<!\\)\[\^(\d+)\]", rf"[^{number}-\1]", text) if number else text


# Lines


def _lines(at_terminal: bool, prompt: Callable[[], str], *, keep: bool) -> Iterator[str]:
    """The lines that are typed, or that come through a pipe."""
    if not at_terminal:
        with suppress(AttributeError):
            sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
        yield from sys.stdin
        return
    history = History(_history_file() if keep else None)
    while True:
        try:
            line = _typed(prompt())
        except KeyboardInterrupt:
            say(faint("\n(Ctrl-D or /quit ends)"), err=True)
            continue
        except UnicodeDecodeError:
            say("That was not UTF-8; type it again.", err=True)
            continue
        except EOFError:
            say("", err=True)
            return
        history.add(line)
        yield line


def _typed(prompt: str) -> str:
    if sys.stdout.isatty():
        return input(prompt)
    say(prompt, err=True, nl=False)  # the answers go to a file
    return input()


def _history_file() -> Path:
    import platformdirs

    return platformdirs.user_state_path("pincite") / "chat-history"


class History:
    """Questions of before, for the arrow keys; in a file of the user's that nobody else reads."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._readline: Any = None
        with suppress(ImportError):  # not on every system
            import readline

            self._readline = readline
            readline.set_auto_history(False)
        if file is None or self._readline is None:
            return
        with suppress(OSError, PinciteError):
            make_folder(file.parent.resolve())
            before = file.read_text("utf-8", "replace").splitlines() if file.exists() else []
            if len(before) > 2 * _MOST_REMEMBERED:
                kept = [f"{one}\n".encode() for one in before[-_MOST_REMEMBERED:]]
                replace_file(file.resolve(), kept, mode=0o600)
            for one in before[-_MOST_REMEMBERED:]:
                self._readline.add_history(one)

    def add(self, line: str) -> None:
        """Remember a question; a command is none."""
        line = one_line(line)
        if not line or line.startswith("/") or self._readline is None:
            return
        self._readline.add_history(line)
        if self._file is not None:
            with suppress(OSError):  # it is a convenience
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
                with os.fdopen(os.open(self._file, flags, 0o600), "ab") as opened:
                    os.fchmod(opened.fileno(), 0o600)
                    opened.write(f"{line}\n".encode(errors="replace"))
