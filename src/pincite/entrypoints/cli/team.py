"""`pincite team`: a database that several people share, its projects and who may see them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from pincite.engine.teamwork import Address, connect, opened_team, project_address, set_up
from pincite.entrypoints.cli.common import (
    GivenPath,
    as_json_option,
    ask_for_consent,
    echo,
    from_environment,
    library_option,
    project_options,
    with_options,
)
from pincite.entrypoints.reports import counted
from pincite.errors import SettingsError
from pincite.records import LEVELS, MEMBER_ROLES, MemberRole
from pincite.text.printable import printable

if TYPE_CHECKING:
    from pincite.stores.postgres.team import Team


@click.group()
def team() -> None:
    """Share libraries in a PostgreSQL database: projects, members, rights."""


_of_project = with_options(library_option, project_options, as_json_option)
"""The options that say which project is meant."""


@team.command()
@click.argument("url", envvar="PINCITE_STORE")
@as_json_option
def setup(url: str, as_json: bool) -> None:
    """Make the tables and roles of pincite in the database at URL, or bring them up to date.

    Run it as the database's owner: once, and after an upgrade of pincite.

    Example: pincite team setup postgresql://owner@db.example.org/pincite
    """
    done = set_up(url)
    if done.before == done.now:
        told = f"{done.database} is up to date (schema {done.now})."
    elif done.before:
        told = f"Brought {done.database} from schema {done.before} to {done.now}."
    else:
        told = f"Made the tables of pincite in {done.database} (schema {done.now})."
    lines = (
        told,
        f"PostgreSQL {done.server_version}, pgvector {done.vector_version}.",
        f"Logins that pincite works with must be members of the role {done.role}; {done.login} is "
        f"one. For another: GRANT {done.role} TO login;",
    )
    echo(as_json, asdict(done), map(printable, lines))


@team.command("connect")
@click.argument("folder", type=GivenPath())
@project_options
@as_json_option
def connect_(
    folder: Path, store: str | None, user: str | None, project: str | None, as_json: bool
) -> None:
    """Connect an empty FOLDER to a project, so that you can search it from there.

    The folder is created if it does not exist. It has none of the project's files, and the index
    cannot be changed from it.

    Example: pincite team connect ~/plans --store postgresql://db/pincite --project ada/plans
    """
    url = store or from_environment("PINCITE_STORE")
    if url is None:
        raise SettingsError("which database? Name it with --store or PINCITE_STORE")
    address = connect(
        folder,
        store=url,
        user=user or from_environment("PINCITE_USER"),
        project=project or from_environment("PINCITE_PROJECT"),
    )
    project = address.scope.full_name
    told = f"{folder} looks into {project} as {address.user}. Search it: "
    echo(
        as_json,
        {"folder": str(folder), "user": address.user, "project": project},
        [printable(f"{told}pincite search --library {folder} QUESTION")],
    )


@team.command()
@_of_project
def projects(as_json: bool, **place: Any) -> None:  # noqa: ANN401 — what `_of_project` gives
    """List the projects that you are a member of.

    Example: pincite team projects --store postgresql://db/pincite --user grace
    """
    address = _address(**place)
    with closing(opened_team(address.store)) as opened:
        found = opened.projects(address.user)
    if not found and not as_json:
        click.echo(f"{printable(address.user)} is not a member of any project.", err=True)
    lines = (
        printable(f"{one.owner}/{one.name}: {one.role}, sees up to {one.clearance}")
        for one in found
    )
    echo(as_json, [asdict(one) for one in found], lines)


@team.command()
@_of_project
def members(as_json: bool, **place: Any) -> None:  # noqa: ANN401 — as above
    """List the members of a project. If you are not an admin, you see only yourself.

    Example: pincite team members --library ~/plans
    """
    with _opened(**place) as (opened, address):
        found = opened.members(address.scope)
    lines = (printable(f"{one.user}: {one.role}, sees up to {one.clearance}") for one in found)
    echo(as_json, [asdict(one) for one in found], lines)


@team.command()
@click.argument("member", metavar="USER")
@click.option(
    "--role",
    type=click.Choice(MEMBER_ROLES),
    help="A writer may also change documents, an admin may also share.  [default: reader]",
)
@click.option(
    "--clearance",
    type=click.Choice(LEVELS),
    help="The most confidential documents they may see.  [default: internal]",
)
@_of_project
def share(
    member: str,
    role: str | None,
    clearance: str | None,
    as_json: bool,
    **place: Any,  # noqa: ANN401 — as above
) -> None:
    """Make USER a member of a project, or change what a member may do.

    Roles and clearances you do not name stay as they are.

    Example: pincite team share grace --role writer --library ~/plans
    """
    with _opened(**place) as (opened, address):
        given = cast(MemberRole | None, role)
        now = opened.share(address.scope, member, role=given, clearance=clearance)
    shown = address.scope.full_name
    a_role = f"{'an' if now.role == 'admin' else 'a'} {now.role}"
    told = f"{member} is {a_role} of {shown} and sees up to {now.clearance}."
    echo(as_json, {"project": shown, **asdict(now)}, [printable(told)])


@team.command()
@click.argument("member", metavar="USER")
@_of_project
def revoke(member: str, as_json: bool, **place: Any) -> None:  # noqa: ANN401 — as above
    """Take USER out of a project, from the next search on.

    Example: pincite team revoke grace --library ~/plans
    """
    with _opened(**place) as (opened, address):
        opened.revoke(address.scope, member)
    _tell_revoked(member, address, as_json=as_json)


@team.command()
@_of_project
def leave(as_json: bool, **place: Any) -> None:  # noqa: ANN401 — as above
    """Leave a project. Its owner cannot.

    Example: pincite team leave --library ~/adas-plans
    """
    with _opened(**place) as (opened, address):
        opened.revoke(address.scope, address.user)
    _tell_revoked(address.user, address, as_json=as_json)


def _tell_revoked(member: str, address: Address, *, as_json: bool) -> None:
    project = address.scope.full_name
    told = f"{member} is no longer a member of {project}."
    echo(as_json, {"project": project, "user": member, "revoked": True}, [printable(told)])


@team.command()
@_of_project
def optimize(as_json: bool, **place: Any) -> None:  # noqa: ANN401 — as above
    """Rebuild the vector index of a project now, if it needs rebuilding.

    An index run does this by itself if its login owns the tables; otherwise the owner runs this.

    Example: pincite team optimize --library ~/plans
    """
    with _opened(**place) as (opened, address):
        made = opened.optimize(address.scope)
    told = "The vector index was rebuilt." if made else "The vector index needs no rebuilding."
    echo(as_json, {"project": address.scope.full_name, "made": made}, [told])


@team.command()
@click.option("--yes", is_flag=True, help="Yes, delete it.")
@_of_project
def drop(yes: bool, as_json: bool, **place: Any) -> None:  # noqa: ANN401 — as above
    """Delete a project with everything in it, for all of its members.

    Example: pincite team drop --yes --library ~/plans
    """
    with _opened(**place) as (opened, address):
        project = address.scope.full_name
        store = opened.uploads(address.scope)
        keeps_files = store.has_uploads()
        if not yes:
            documents = counted(store.stats().documents, "document")
            files = ", and the files that were handed in, which are nowhere else," * keeps_files
            raise SettingsError(
                f"this deletes {project} with its {documents}{files} for everybody; to "
                "confirm, add --yes"
            )
        opened.drop(address.scope)
    kept = "The files that were handed in to it are gone with it."
    told = f"{project} is deleted. " + (
        kept if keeps_files else "The files it was made from are untouched."
    )
    echo(as_json, {"project": project, "dropped": True}, [printable(told)])


@contextmanager
def _opened(**place: Any) -> Iterator[tuple[Team, Address]]:  # noqa: ANN401 — as above
    address = _address(**place)
    if not address.project:
        raise SettingsError("which project? Name it with --project or PINCITE_PROJECT")
    with closing(opened_team(address.store)) as opened:
        yield opened, address


def _address(library: Path, store: str | None, user: str | None, project: str | None) -> Address:
    return project_address(
        library,
        store=store,
        default=from_environment("PINCITE_STORE"),
        user=user or from_environment("PINCITE_USER"),
        project=project or from_environment("PINCITE_PROJECT"),
        consent=ask_for_consent,
    )
