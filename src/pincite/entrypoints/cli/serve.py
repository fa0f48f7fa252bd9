"""`pincite serve`."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from pathlib import Path

import click

from pincite.engine import Library
from pincite.engine.folders import has_index, library_around
from pincite.entrypoints.cli.common import GivenPath, open_at
from pincite.errors import NothingToIndex, PinciteError, SettingsError
from pincite.text.printable import printable

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@click.command()
@click.argument("folders", nargs=-1, type=GivenPath())
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--port", type=click.IntRange(1, 65_535), default=8000, show_default=True, help="The port."
)
@click.option("--no-watch", is_flag=True, help="Do not follow changes in the folders.")
def serve(folders: tuple[Path, ...], host: str, port: int, no_watch: bool) -> None:
    """Answer HTTP requests about the libraries in FOLDERS.

    Without FOLDERS it is the library around the current folder; where there is none, one in your
    data folder, to which files are handed in.

    Example: pincite serve ~/notes --port 8000
    """
    if host not in _LOOPBACK:
        raise SettingsError(
            f"{host} can be reached by others, and there are no API keys yet; listen at 127.0.0.1"
        )
    import uvicorn

    from pincite.entrypoints.http.app import create_app

    with ExitStack() as opened:
        libraries: dict[str, Library] = {}
        for folder in folders or (library_around(Path()) or _own_folder(),):
            library = opened.enter_context(open_at(folder))
            name = library.root.name
            if name in libraries:
                raise SettingsError(f"two folders are called {name}; serve them apart")
            libraries[name] = library
            if not has_index(library.root):
                click.echo(f"{printable(str(library.root))} has no index yet: it is made now.")
        stop = threading.Event()
        if not no_watch:
            for library in libraries.values():
                threading.Thread(target=_follow, args=(library, stop), daemon=True).start()
        click.echo(f"Serving {', '.join(map(printable, libraries))} at http://{host}:{port}")
        try:
            uvicorn.run(create_app(libraries), host=host, port=port, log_level="warning")
        finally:
            stop.set()


def _own_folder() -> Path:
    """A library of the user's own, for an empty machine."""
    from pincite.models.catalog import default_models_folder

    folder = default_models_folder().parent / "library"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _follow(library: Library, stop: threading.Event) -> None:
    def tell(trouble: PinciteError) -> None:
        if not isinstance(trouble, NothingToIndex):
            click.echo(f"Note: {printable(str(trouble))}", err=True)

    try:
        for report in library.watch(stop, on_trouble=tell):
            for failure in report.failures:
                told = f"Note: {failure.path}: {failure.reason}"
                click.echo(printable(told), err=True)
    except PinciteError as error:
        click.echo(f"Note: changes are no longer followed: {printable(str(error))}", err=True)
