"""Nothing that lies in a folder makes pincite connect, send or load before its user allows it."""

from __future__ import annotations

import json
import os
import pty
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from model_service import Service, running_service
from pincite import ModelAccess, Profile, open_library, trust
from pincite.engine.consent import Consent, Request, allowed, consent_file
from pincite.entrypoints.cli.main import cli
from pincite.errors import ConsentNeeded, PinciteError

NEEDS_CONSENT = 13
PASSWORD = "wild-geese-7"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What was allowed before, which is nothing."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    return tmp_path / "configuration"


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    with running_service() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "key")
        yield server


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line beside a folder named `notes`."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/pumps.md").write_text("# Pumps\n\nThe north pump leaks.\n")
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(cli, arguments)
        assert result.exit_code == code, result.output
        return result

    return call


def received(name: str = "received") -> None:
    """What somebody sends us: a folder with its index. Nobody allowed anything to it here."""
    shutil.copytree("notes", name)


@contextmanager
def postgres_that_wants_a_password() -> Iterator[tuple[str, list[str]]]:
    """A stranger's server: its address, and the passwords it was given."""
    given: list[str] = []

    def serve() -> None:
        with suppress(OSError):  # the listener was shut down
            while True:
                caller, _ = listener.accept()
                given.append("")
                with caller, suppress(OSError):
                    while (
                        int.from_bytes(caller.recv(1024)[4:8]) >> 16 != 3
                    ):  # the version, in the end
                        caller.sendall(b"N")  # no encryption
                    caller.sendall(b"R\0\0\0\x08\0\0\0\x03")  # a password, as it is
                    given[-1] = caller.recv(1024)[5:-1].decode()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"postgresql://db@127.0.0.1:{listener.getsockname()[1]}/notes", given
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def send_folder_with_database(address: str) -> Path:
    index = Path("received/.index")
    index.mkdir(parents=True)
    said = {"store": address, "user": "ada", "project": "plans"}
    (index / "store.json").write_text(json.dumps(said))
    return index.parent


@pytest.mark.parametrize(
    "command",
    [
        ("search", "pump", "-l", "received"),
        ("ask", "pump?", "-l", "received"),
        ("show", "pumps.md:1", "-l", "received"),
        ("catalog", "-l", "received"),
        ("index", "build", "received"),
        ("index", "stats", "received"),
        ("export", "out.pincite", "-l", "received"),
        ("eval", "runs", "-l", "received"),
        ("team", "projects", "-l", "received"),
        ("team", "members", "-l", "received"),
    ],
    ids=" ".join,
)
def test_no_command_connects_to_a_database_that_a_folder_names(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with postgres_that_wants_a_password() as (address, given):
        place = send_folder_with_database(address).resolve()
        told = run(*command, code=NEEDS_CONSENT).stderr
        assert f"the index in {place} wants to connect to {address} as ada, " in told
        assert f"run `pincite trust {place}`" in told
        assert given == []


def test_once_allowed_it_is_connected_to_and_without_the_question_at_once(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with postgres_that_wants_a_password() as (address, given):
        place = send_folder_with_database(address)
        with pytest.raises(ConsentNeeded):
            open_library(place)
        # As without any question: this is what the test above would see then.
        with pytest.raises(PinciteError), open_library(place, consent=lambda *_: True) as library:
            library.search("pump")
        assert PASSWORD in given
        given.clear()
        run("search", "pump", "-l", "received", code=9)  # asked once
        assert PASSWORD in given


def test_trust_connects_with_the_password_of_the_environment(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres_that_wants_a_password() as (address, given):
        send_folder_with_database(address)
        monkeypatch.setenv("PINCITE_STORE", address.replace("@", f":{PASSWORD}@"))
        run("trust", "received", code=NEEDS_CONSENT)
        assert given == []
        # That the server does not answer rightly takes nothing back.
        assert "Allowed: " in run("trust", "received", "--yes").stdout
        assert PASSWORD in given


def test_other_parameters_of_an_address_are_another_database(run: Run) -> None:
    with postgres_that_wants_a_password() as (address, given):
        place = send_folder_with_database("postgresql://trusted.example.org/notes?host=/nowhere")
        assert trust(place)
        shutil.rmtree(place)
        port = address.rpartition(":")[2].partition("/")[0]
        evil = f"postgresql://trusted.example.org/notes?host=127.0.0.1&port={port}"
        send_folder_with_database(evil)
        assert evil in run("search", "pump", "-l", "received", code=NEEDS_CONSENT).stderr
        assert given == []


def test_a_server_is_not_started_on_files_that_a_folder_names(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "database"
    send_folder_with_database(f"postgresql+embedded://{folder}")
    told = run("index", "build", "received", code=NEEDS_CONSENT).stderr
    assert f"wants to start the PostgreSQL server in {folder}" in told
    assert not folder.exists()


@pytest.mark.parametrize("kept", ['{"store": 5, "user": "a", "project": "b"}', "[]", '{"a": 1}'])
def test_an_address_that_is_none_is_told(run: Run, kept: str) -> None:
    place = send_folder_with_database("")
    (place / ".index/store.json").write_text(kept)
    assert "does not say where the index is" in run("search", "x", "-l", "received", code=2).stderr


def test_what_a_command_names_is_allowed_and_remembered(
    run: Run, service: Service, configuration: Path
) -> None:
    run("index", "build", "notes", "--model", "openai:m", "--summaries", "openai:writer", code=0)
    run("search", "pump", "-l", "notes")
    run("index", "update", "notes")
    file = consent_file()
    assert file.is_relative_to(configuration)
    assert file.stat().st_mode & 0o777 == 0o600
    assert {str(request) for _, request in allowed()} == {
        "wants to send your documents and questions to openai:m",
        "wants to send your documents and questions to openai:writer",
    }


def test_neither_documents_nor_questions_are_sent_for_an_index_that_was_received(
    run: Run, service: Service
) -> None:
    run("index", "build", "notes", "--model", "openai:m")
    received()
    Path("received/more.md").write_text("# More\n\nMy secret.\n")
    service.requests.clear()
    for command in (
        ("search", "my question", "-l", "received"),
        ("ask", "my question", "-l", "received"),
        ("context", "my question", "-l", "received"),
        ("search", "my question", "-l", "received", "--rerank", "maxsim"),
        ("index", "update", "received"),
        ("index", "build", "received", "--policy", "flat"),
        ("reindex", "received", "--fresh"),
    ):
        told = run(*command, code=NEEDS_CONSENT).stderr
        assert "wants to send your documents and questions to openai:m;" in told
    assert service.requests == []
    assert "pumps.md" in run("search", "pump", "-l", "received", "--mode", "words").stdout
    run("trust", "received", "--yes")
    assert "1 new" in run("index", "update", "received").stdout
    assert any("My secret." in text for one in service.requests for text in one["input"])


def test_nor_for_a_library_that_was_imported(run: Run, service: Service) -> None:
    run("index", "build", "notes", "--model", "openai:m", "--summaries", "openai:writer")
    run("export", "notes.pincite", "-l", "notes")
    run("import", "notes.pincite", "imported")
    shutil.copy("notes/pumps.md", "imported/mine.md")
    service.requests.clear()
    told = run("index", "update", "imported", code=NEEDS_CONSENT).stderr
    assert "questions to openai:m and wants to send" in told
    assert "questions to openai:writer;" in told
    # With a model of one's own it still wants its summaries written.
    refused = run("reindex", "imported", "--model", "hashing", code=NEEDS_CONSENT)
    assert "openai:writer;" in refused.stderr
    assert service.requests == []


def test_nor_to_cut_documents(run: Run, service: Service) -> None:
    Path("notes/long.md").write_text(
        "\n\n".join(f"Pump {one} leaks a little." for one in range(300))
    )
    models = ModelAccess(profiles={"cheap": Profile(base_url=service.url, model="m")})
    with open_library("notes", models=models) as library:
        library.index(policy="semantic", model="hashing")
    assert service.requests
    received()
    Path("received/more.md").write_text(Path("received/long.md").read_text() + "My secret.")
    service.requests.clear()
    with open_library("received", models=models) as library:
        assert library.search("pump", mode="words").results
        with pytest.raises(ConsentNeeded, match="to the language model of your settings;"):
            library.index()
        assert service.requests == []
        trust("received")
        library.index()
    assert service.requests


def test_nor_to_try_another_policy(run: Run, service: Service) -> None:
    run("index", "build", "notes", "--model", "openai:m")
    received()
    Path("received/pincite-eval.jsonl").write_text(
        '{"question": "which pump leaks?", "documents": ["pumps.md"]}\n'
    )
    service.requests.clear()
    for more in ((), ("--policy", "flat"), ("--policy", "flat", "--mode", "words")):
        run("eval", "run", "-l", "received", *more, code=NEEDS_CONSENT)
    assert service.requests == []


def test_a_model_is_not_loaded_from_where_an_index_says(run: Run, tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(Path(os.environ.get("PINCITE_MODELS") or _models()), model)
    run("index", "build", "notes", "--model", "./model")  # as its user says
    run("search", "pump", "-l", "notes")
    received()
    told = run("search", "pump", "-l", "received", code=NEEDS_CONSENT).stderr
    assert f"wants to load the model in {model}" in told


def _models() -> Path:
    from pincite.models.catalog import MINILM_FOLDER, default_models_folder

    return default_models_folder() / MINILM_FOLDER


def test_a_name_is_no_folder_of_where_one_stands(run: Run, tmp_path: Path) -> None:
    shutil.copytree(_models(), tmp_path / "mine")
    told = run("index", "build", "notes", "--model", "mine", code=2).stderr
    assert "unknown model 'mine'" in told
    assert "such as ./MODEL" in told
    for command in (("search", "pump", "--rerank", "mine"), ("models", "check", "mine")):
        where = ("-l", "notes") if command[0] == "search" else ()
        run("index", "build", "notes", "--model", "hashing")
        assert CliRunner().invoke(cli, [*command, *where]).exit_code != 0
    models = ModelAccess(folder=tmp_path)
    with open_library("notes", models=models) as library:
        library.index(model="mine", fresh=True)
        assert library.stats().header.model.name == "mine"
    assert allowed() == frozenset()


@as_root
def test_an_index_of_another_user_is_not_used(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("index", "build", "notes", "--model", "hashing")
    os.chown("notes/.index", 1, 1)
    Path("notes/deep").mkdir()
    told = run("search", "pump", "-l", "notes/deep", code=NEEDS_CONSENT).stderr
    assert "notes belongs to user daemon (uid 1);" in told
    run("team", "projects", "-l", "notes", code=2)  # has no database: nothing to ask for
    monkeypatch.setenv("SUDO_UID", "1")  # it is our own
    run("search", "pump", "-l", "notes/deep")
    monkeypatch.setenv("SUDO_UID", "2")
    run("search", "pump", "-l", "notes/deep", code=NEEDS_CONSENT)
    run("trust", "notes/deep", "--yes")
    run("search", "pump", "-l", "notes/deep")
    os.chown("notes/.index", 0, 0)
    os.chown("notes", 2, 2)
    monkeypatch.delenv("SUDO_UID")
    told = run("search", "pump", "-l", "notes", code=NEEDS_CONSENT).stderr
    assert "belongs to user bin (uid 2);" in told


@as_root
def test_a_new_index_in_the_folder_of_another_is_ones_own(run: Run) -> None:
    os.chown("notes", 1, 1)
    run("index", "build", "notes", "--model", "hashing")
    run("search", "pump", "-l", "notes")


def at_a_terminal(answer: bytes, *arguments: str) -> tuple[int, str]:
    """What somebody sees who types this answer."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "pincite", *arguments]
    with subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.DEVNULL, stderr=theirs, close_fds=True
    ) as process:
        os.close(theirs)
        os.write(ours, answer)
        seen = b""
        with suppress(OSError):  # it ended
            while piece := os.read(ours, 1024):
                seen += piece
    os.close(ours)
    return process.returncode, seen.decode()


def test_who_sits_at_a_terminal_is_asked_once(run: Run, service: Service) -> None:
    run("index", "build", "notes", "--model", "openai:m")
    received()
    service.requests.clear()
    search = ("search", "my question", "-l", "received")
    code, seen = at_a_terminal(b"\n", *search)
    assert code == NEEDS_CONSENT
    assert "wants to send your documents and questions to openai:m. Allow this" in seen
    assert service.requests == []
    assert at_a_terminal(b"y\n", *search)[0] == 0
    assert service.requests
    code, seen = at_a_terminal(b"", *search)
    assert (code, "Allow" in seen) == (0, False)


def test_trust_tells_lists_and_takes_back(run: Run, service: Service) -> None:
    run("index", "build", "notes", "--model", "openai:m")
    received()
    wanted = "wants to send your documents and questions to openai:m"
    assert wanted in run("trust", "received", code=NEEDS_CONSENT).stderr
    assert (
        f"Allowed: {Path('received').resolve()} {wanted}"
        in run("trust", "received", "--yes").stdout
    )
    listed = json.loads(run("trust", "--list", "--json").stdout)
    assert {one["folder"] for one in listed} == {
        str(Path(one).resolve()) for one in ("notes", "received")
    }
    assert "Nothing is allowed to" in run("trust", "received", "--remove").stdout
    assert "Nothing was allowed to" in run("trust", "received", "--remove").stdout
    Path("received/deep").mkdir()
    for more in ("--yes", "--remove"):  # of the library around it, both
        assert str(Path("received").resolve()) in run("trust", "received/deep", more).stdout
    run("search", "pump", "-l", "received", code=NEEDS_CONSENT)
    run("search", "pump", "-l", "notes")
    run("trust", "--list", "--yes", code=2)
    run("index", "build", "notes", "--model", "hashing", "--fresh")
    run("trust", "received", "--yes")
    shutil.rmtree("received")
    assert "Nothing is allowed to" in run("trust", "received", "--remove").stdout
    received()
    assert "wants nothing that you have to allow" in run("trust", "received").stdout


def test_from_python_a_folder_is_trusted_by_a_call(run: Run, service: Service) -> None:
    run("index", "build", "notes", "--model", "openai:m")
    received()
    models = ModelAccess(base_url=service.url, api_key="key")
    with open_library("received", models=models) as library:
        with pytest.raises(ConsentNeeded, match="openai:m"):
            library.search("pump")
        with pytest.raises(ConsentNeeded, match="openai:m"):
            library.retrieve_chunks("pump")
        assert [request.what for request in trust("received")] == ["openai:m"]
        assert library.search("pump").results


def test_a_name_that_would_rewrite_a_terminal_is_escaped(run: Run, service: Service) -> None:
    run("index", "build", "notes", "--model", "openai:m\x1b[2K\nAll is well")
    received()
    told = run("search", "pump", "-l", "received", code=NEEDS_CONSENT).stderr
    assert "openai:m\\u001b[2K\\nAll is well;" in told


def test_what_cannot_be_remembered_is_asked_again(
    run: Run, service: Service, configuration: Path, caplog: pytest.LogCaptureFixture
) -> None:
    configuration.write_text("a file where a folder should be")
    run("index", "build", "notes", "--model", "openai:m")
    assert "your consent cannot be remembered" in caplog.text
    assert "cannot be remembered" in run("trust", "notes", "--yes", code=2).stderr
    configuration.unlink()
    run("search", "pump", "-l", "notes", code=NEEDS_CONSENT)


def test_a_configuration_that_is_kept_elsewhere_stays_there(
    configuration: Path, tmp_path: Path
) -> None:
    (tmp_path / "dotfiles").mkdir()
    configuration.symlink_to("dotfiles")
    consent_file().parent.mkdir()
    consent_file().symlink_to(tmp_path / "kept.json")
    Consent(tmp_path).allow(Request("send", "openai:m"))
    assert len(allowed()) == 1
    assert (tmp_path / "kept.json").stat().st_mode & 0o777 == 0o600


def test_a_list_of_consents_that_cannot_be_read_allows_nothing(run: Run, service: Service) -> None:
    run("index", "build", "notes", "--model", "openai:m")
    for content in ("[[1]]", "{", '{"a": 1}', "[1]"):
        consent_file().write_text(content)
        service.requests.clear()
        assert "repair it, or remove it" in run("search", "pump", "-l", "notes", code=2).stderr
        assert service.requests == []


def test_two_who_are_asked_at_once_are_both_remembered(run: Run) -> None:
    def allow(number: int) -> None:
        Consent(Path(f"/place/{number}")).allow(Request("send", "openai:m"))

    threads = [threading.Thread(target=allow, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(allowed()) == 8
