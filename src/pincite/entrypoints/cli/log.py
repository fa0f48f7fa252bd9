"""`pincite log` and `pincite feedback`: what was asked, what came of it, and how good that was."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from pincite.engine import find_library
from pincite.engine.folders import library_around
from pincite.engine.searchable import Searchable
from pincite.entrypoints.cli.common import (
    as_json_option,
    echo,
    echo_lines,
    from_environment,
    library_option,
    open_at,
    project_options,
    with_options,
)
from pincite.entrypoints.cli.questions import add_cases, own_file, refuse_to_index, write_text
from pincite.entrypoints.render import faint, strong
from pincite.entrypoints.reports import counted
from pincite.errors import CitationNotFound, PinciteError, SettingsError
from pincite.records import Scope, cited_file, place_cited
from pincite.records.journal import Feedback, LoggedQuery
from pincite.settings import EVAL_FILE
from pincite.stores.journal import Journal
from pincite.text.printable import one_line, printable

_UNITS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_WIDEST = 80  # characters of a question in a list


class Moment(click.ParamType[float]):
    """A day, or so many minutes, hours, days or weeks before now, or after it."""

    name = "time"

    def __init__(self, *, after: bool = False) -> None:
        self._sign = 1 if after else -1

    def convert(
        self,
        value: str,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Seconds since 1970."""
        if span := re.fullmatch(r"(\d{1,6})([mhdw])", value):
            return time.time() + self._sign * int(span[1]) * _UNITS[span[2]]
        try:
            return datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError, OSError):
            self.fail(f"{value!r} is no time; write 7d, 12h, 30m, 2w or 2026-11-01", param, ctx)


@dataclass(frozen=True)
class _Log:
    """The log that a command is about, and what may be looked at of it."""

    journal: Journal
    library: Searchable | None  # None: all of a team's database
    store: str | None
    mine: dict[str, Any]  # whose queries, of which project

    def queries(self, **between: Any) -> list[LoggedQuery]:  # noqa: ANN401 — as the journal's own
        if self.library is not None:
            return self.library.queries(**between)
        return self.journal.queries(**between, **self.mine)

    def named(self, name: str) -> LoggedQuery:
        """The query of that id, or the only one that begins so; `last` is the newest."""
        if name == "last":
            found = self.queries(limit=1)
        else:
            found = [one for one in self.queries() if one.id.startswith(name)]
        if len(found) != 1:
            what = "several queries begin" if found else "there is no query that begins"
            what = "the log is empty" if name == "last" else f"{what} with {name!r}"
            raise SettingsError(f"{what}; `pincite log list` shows them")
        return found[0]

    @contextmanager
    def asked_of(self, query: LoggedQuery) -> Iterator[Searchable]:
        """The library that a query was asked of, as its asker sees it."""
        if self.library is not None or self.store is None:
            assert self.library is not None  # noqa: S101 — one of the two is there
            yield self.library
            return
        from pincite.engine.project import open_project

        with open_project(self.store, user=query.user, project=query.library, log="off") as opened:
            yield opened


@contextmanager
def _opened_log(
    library: Path, store: str | None, user: str | None, project: str | None
) -> Iterator[_Log]:
    """The log of the library around a folder, or of the whole database that is named."""
    user, project = (
        user or from_environment("PINCITE_USER"),
        project or from_environment("PINCITE_PROJECT"),
    )
    root = None if store else library_around(library)
    if root is not None:
        with open_at(root, user=user, project=project) as opened:
            yield _Log(opened.journal, opened, None, {})
        return
    store = store or from_environment("PINCITE_STORE")
    if store is None:
        find_library(library)  # says what is missing
        raise AssertionError
    from pincite.engine.teams import team_journal
    from pincite.engine.teamwork import opened_team

    mine = {"user": user} if user else {}
    if project and "/" not in project and not user:
        raise SettingsError("whose project? Write it as OWNER/NAME, or name --user")
    if project:
        mine["library"] = Scope(user or project.partition("/")[0], project).full_name
    with closing(opened_team(store)) as team:
        yield _Log(team_journal(team), None, store, mine)


_of_log = with_options(library_option, project_options)
since_option = click.option(
    "--since", type=Moment(), help="Only what was asked since then: 7d, 12h, or 2026-11-01."
)


@click.group()
def log() -> None:
    """What was asked of a library, through every door, and what came of it.

    The log is kept beside the index; `log = "off"` in your settings keeps none. Of a project in a
    team's database you see your own queries; with --store you see those of everybody who uses the
    database, or of --user.
    """


@log.command("list")
@since_option
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True)
@_of_log
@as_json_option
def list_(since: float | None, limit: int, as_json: bool, **place: Any) -> None:  # noqa: ANN401 — what `_of_log` gives
    """List queries, the newest first.

    Example: pincite log list --since 7d
    """
    with _opened_log(**place) as opened:
        found = opened.queries(since=since or 0.0, limit=limit)
    lines = [_line(one) for one in found] or ["Nothing was asked in that time."]
    echo(as_json, [asdict(one) for one in found], lines)


def _line(query: LoggedQuery) -> str:
    spent = (query.retrieval_seconds + query.generation_seconds) * 1_000
    words = printable(one_line(query.question))[:_WIDEST] or faint("(not kept)")
    facts = f"{_time(query)}  {query.door:<7} {query.outcome:<12} {spent:>6.0f} ms"
    return f"{faint(query.id)}  {printable(facts)}  {words}"


def _time(query: LoggedQuery) -> str:
    return f"{datetime.fromtimestamp(query.at):%Y-%m-%d %H:%M:%S}"


@log.command()
@click.argument("query_id", metavar="ID")
@_of_log
@as_json_option
def show(query_id: str, as_json: bool, **place: Any) -> None:  # noqa: ANN401 — as above
    """Print all that is known of a query, with the places it found that are still there.

    ID is the beginning of an id, or `last`.

    Example: pincite log show last
    """
    with _opened_log(**place) as opened:
        query = opened.named(query_id)
        said = opened.journal.feedback().get(query.id)
        places = _places(opened, query)
    told = {
        **asdict(query),
        "places": places,
        "feedback": asdict(said) if said else None,
    }
    echo(as_json, told, _details(query, said, places))


def _places(opened: _Log, query: LoggedQuery) -> list[dict[str, Any]]:
    """Each chunk with its place, or why that cannot be told."""
    places: list[dict[str, Any]] = []
    try:
        with opened.asked_of(query) as library:
            for chunk_id in query.chunk_ids:
                try:
                    cited = library.show(chunk_id, around=0)
                except CitationNotFound as error:
                    places.append({"chunk_id": chunk_id, "gone": str(error)})
                    continue
                at = place_cited(*cited_file(cited.document), cited.heading_path, cited.locator)
                places.append(
                    {"chunk_id": chunk_id, "citation": at, "superseded": cited.superseded}
                )
    except PinciteError as error:  # the project is gone, or its asker is no member any more
        return [{"chunk_id": one, "gone": str(error)} for one in query.chunk_ids]
    return places


def _details(
    query: LoggedQuery, said: Feedback | None, places: list[dict[str, Any]]
) -> Iterator[str]:
    yield strong(printable(query.question) or "(the question is not kept)")
    asker = " ".join(filter(None, (query.user, query.agent and f"({query.agent})")))
    facts = {
        "id": query.id,
        "asked": f"{_time(query)}, {query.verb} through {query.door}{asker and f', by {asker}'}",
        "library": query.library,
        "filters": json.dumps(dict(query.filters), ensure_ascii=False) if query.filters else "",
        "outcome": f"{query.outcome} {query.error}".strip(),
        "seconds": f"{query.retrieval_seconds:.3f} to search, "
        f"{query.generation_seconds:.3f} to answer",
        "tokens": f"{query.tokens:,} of what was found",
        "model": query.model,
        "profile": " ".join(filter(None, (query.profile, query.writer and f"({query.writer})"))),
        "feedback": f"{'good' if said.good else 'bad'} {said.note}".strip() if said else "",
    }
    yield from (f"{name:<9} {printable(value)}" for name, value in facts.items() if value)
    for one in places:
        where = printable(one.get("citation") or one["gone"])
        yield f"  {where}{' (an earlier version)' if one.get('superseded') else ''}"


@log.command()
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@since_option
@_of_log
def export(file: Path, since: float | None, **place: Any) -> None:  # noqa: ANN401 — as above
    """Write queries with their feedback to FILE as JSON lines, the oldest first; `-` prints them.

    Example: pincite log export queries.jsonl --since 2026-11-01
    """
    with _opened_log(**place) as opened:
        found = opened.queries(since=since or 0.0)[::-1]
        said = opened.journal.feedback()
        if str(file) != "-" and opened.library is not None and opened.library.folder is not None:
            refuse_to_index(opened.library.folder, file)
    lines = [
        json.dumps(
            {**asdict(one), "feedback": asdict(said[one.id]) if one.id in said else None},
            ensure_ascii=False,
        )
        for one in found
    ]
    if str(file) == "-":
        echo_lines(map(printable, lines))
        return
    write_text(file, "".join(f"{line}\n" for line in lines))
    click.echo(f"Written: {counted(len(lines), 'question')} to {printable(str(file))}")


@log.command()
@click.option(
    "--before", type=Moment(), help="Forget what was asked before then: 30d, or 2026-11-01."
)
@click.option("--all", "everything", is_flag=True, help="Forget everything.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_of_log
@as_json_option
def purge(
    before: float | None,
    everything: bool,
    yes: bool,
    as_json: bool,
    **place: Any,  # noqa: ANN401 — as above
) -> None:
    """Forget queries with their feedback, for good.

    Example: pincite log purge --before 90d
    """
    if everything == (before is not None):
        raise SettingsError("what is to be forgotten? Give either --before or --all")
    with _opened_log(**place) as opened:
        found = opened.queries(before=before)
        what = counted(len(found), "question")
        if found and not yes:
            if not sys.stdin.isatty():
                raise SettingsError(f"this forgets {what} for good; to confirm, add --yes")
            click.confirm(f"Forget {what} for good?", abort=True, err=True)
        opened.journal.purge(found)
    echo(as_json, {"forgotten": len(found)}, [f"Forgotten: {what}."])


@click.command()
@click.argument("query_id", metavar="ID")
@click.argument("verdict", type=click.Choice(["good", "bad"]))
@click.option("--note", default="", help="What was good, or what is wrong with it.")
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"The file of questions to add it to.  [default: {EVAL_FILE} of the library]",
)
@_of_log
@as_json_option
def feedback(
    query_id: str,
    verdict: str,
    note: str,
    output: Path | None,
    as_json: bool,
    **place: Any,  # noqa: ANN401 — as above
) -> None:
    """Say whether the answer to a query was good, and measure the library with it from now on.

    ID is the beginning of an id in the log, or `last`. A good answer becomes a question for
    `pincite eval` that expects what it cited. A bad one becomes a draft, and `eval confirm` asks
    you what should have been found.

    Example: pincite feedback last bad --note "that was the lease of before"
    """
    from pincite.engine.feedback import case_of

    with _opened_log(**place) as opened:
        query = opened.named(query_id)
        said = Feedback(query.id, good=verdict == "good", note=note)
        opened.journal.give_feedback(said)
        with opened.asked_of(query) as library:
            case = case_of(library, query, said)
            folder = library.folder if opened.library is not None else None
        file = output or (folder and own_file(None, folder, EVAL_FILE))
    added = bool(case and file and add_cases(file, [case]))
    told = [f"Noted: {verdict}."]
    if case is None:
        told.append("It teaches no question: it is none, or is not kept with what it found.")
    elif file is None:
        told.append("Name a file with --output to make a question for `pincite eval` of it.")
    elif added:
        next_step = (
            "`pincite eval confirm` completes it" if case.draft else "`pincite eval run` asks it"
        )
        told.append(f"Added to {printable(str(file))}; {next_step}.")
    else:
        told.append(f"{printable(str(file))} has this question already, and keeps it as it is.")
    value = {
        "id": query.id,
        "verdict": verdict,
        "note": note,
        "added": added,
        "file": str(file or ""),
    }
    echo(as_json, value, told)
