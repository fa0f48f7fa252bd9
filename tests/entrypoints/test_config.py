"""The user's settings: the file, the environment, what is refused, and that no key ever shows."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pincite import open_library
from pincite.engine.models import Embedders, ModelAccess, Profile
from pincite.entrypoints.cli.common import model_access, with_keys
from pincite.entrypoints.cli.main import cli
from pincite.entrypoints.config import KINDS, settings_file, user_settings, variable_of
from pincite.errors import SettingsError
from pincite.models.judges import EntailmentJudge, LanguageModelJudge
from pincite.settings import AskSettings, ProfileSettings, UserSettings

KEY = "sk-canary-4711"
FULL = """
log = "facts"

[ask]
profile = "balanced"
caution = 0.7
budget = 3000
judge = "model"

[llm.cheap]
base_url = "http://localhost:8080/v1"
model = "qwen"

[llm.balanced]
base_url = "https://llm.example/v1"
model = "large"
api_key_env = "LLM_KEY"
"""
CHEAP = ProfileSettings(base_url="http://localhost:8080/v1", model="qwen")
BALANCED = ProfileSettings(base_url="https://llm.example/v1", model="large", api_key_env="LLM_KEY")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    written = tmp_path / "config.toml"
    written.write_text(FULL)
    return written


def settings(file: Path, **environ: str) -> UserSettings:
    return user_settings({"PINCITE_CONFIG": str(file), **environ})


def test_without_file_and_environment_all_is_as_it_comes(tmp_path: Path) -> None:
    found = user_settings({"PINCITE_CONFIG": "/dev/null"})
    assert found == UserSettings(sources=found.sources)
    assert set(found.sources.values()) == {"default"}
    assert settings_file({}).parts[-2:] == ("pincite", "config.toml")
    assert settings_file({"PINCITE_CONFIG": str(tmp_path)}) == tmp_path


def test_the_file_says_who_writes_answers_and_how(file: Path) -> None:
    found = settings(file)
    assert found.asking == AskSettings(caution=0.7, budget=3000)
    assert (found.profile, found.judge, found.log) == ("balanced", "model", "facts")
    assert found.profiles == {"cheap": CHEAP, "balanced": BALANCED}
    assert set(found.sources.values()) == {str(file)}


def test_the_environment_goes_before_the_file_value_by_value(file: Path) -> None:
    found = settings(
        file,
        PINCITE_PROFILE="cheap",
        PINCITE_CAUTION="1",
        PINCITE_BUDGET="",
        PINCITE_LOG="off",
        PINCITE_LLM_CHEAP_MODEL="smol",
        PINCITE_LLM_PREMIUM_BASE_URL="http://[::1]:9/v1",
        PINCITE_LLM_PREMIUM_MODEL="huge",
    )
    assert found.asking == AskSettings(caution=1.0, budget=3000)
    assert (found.profile, found.log) == ("cheap", "off")
    assert found.profiles["cheap"] == ProfileSettings(base_url=CHEAP.base_url, model="smol")
    assert found.profiles["premium"].model == "huge"
    assert found.sources["ask.caution"] == "environment PINCITE_CAUTION"
    assert found.sources["ask.budget"] == str(file)
    assert found.sources["llm.cheap.model"] == "environment PINCITE_LLM_CHEAP_MODEL"


def test_a_file_with_a_byte_order_mark_is_read(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + FULL.encode())
    assert settings(file).profile == "balanced"


PROFILE = '[llm.cheap]\nbase_url = "http://h/v1"\nmodel = "m"\n'
WRONG = {
    "[ask\n": r"is not TOML: .*line 1",
    "x = 1\nx = 2\n\n": r"is not TOML: Cannot overwrite a value \(at line 2",
    "[ask]\nprofil = 'cheap'": r"unknown setting 'ask\.profil'; did you mean 'ask\.profile'\?",
    "[ask]\nx-y-z = 1": r"unknown setting 'ask\.x-y-z'; known are: ask\.profile, ask\.caution",
    "[llm.best]\nmodel = 'm'": r"unknown setting 'llm\.best'",
    "ask = 1": "unknown setting 'ask'",
    f"[llm.cheap]\napi_key = '{KEY}'": r"llm\.cheap\.api_key'; keys are not allowed in this file",
    "[ask]\nprofile = 1": r"ask\.profile must be a text in quotes",
    "[ask]\nprofile = 'best'": r"ask\.profile must be one of: cheap, balanced, premium",
    "[ask]\ncaution = '0.5'": r"ask\.caution must be a number",
    "[ask]\ncaution = true": r"ask\.caution must be a number",
    "[ask]\ncaution = nan": "caution must be between 0 and 1",
    "[ask]\ncaution = 1.1": "caution must be between 0 and 1",
    "[ask]\nbudget = 1.5": r"ask\.budget must be a whole number",
    "[ask]\nbudget = 0": "budget must be at least 1",
    "[ask]\njudge = 'nli'": 'must be "model" or the full path of a folder',
    "log = 1": "log must be a text in quotes",
    "log = 'some'": "log must be one of: full, facts, off",
    "[log]\nx = 1": "log must be a text in quotes",
    "[llm.cheap]\nmodel = 'm'": r"'cheap' has no base_url; .* or set PINCITE_LLM_CHEAP_BASE_URL",
    "[llm.cheap]\nbase_url = 'http://h/v1'": "'cheap' has no model",
    "[llm.cheap]\nbase_url = 'localhost:80'": r"must begin with http\(s\)://host",
    "[llm.cheap]\nbase_url = 'http://[x/v1'": r"must begin with http\(s\)://host",
    "[llm.cheap]\nmodel = ' '": r"llm\.cheap\.model is empty",
    f"[llm.cheap]\nbase_url = 'http://me:{KEY}@h/v1'": "must not carry a password",
    f"[llm.cheap]\nbase_url = 'http://h/v1?key={KEY}'": "must not carry a password",
    f"{PROFILE}api_key_env = '{KEY}'": "must be the name of an environment variable",
    f"{PROFILE}api_key_env = {KEY}": "is not TOML: ",
    f"{PROFILE}api_key_env = 7": "must be a text in quotes",
}


@pytest.mark.parametrize(("text", "told"), WRONG.items(), ids=range(len(WRONG)))
def test_what_cannot_work_is_told_with_its_place_and_without_what_may_be_a_key(
    file: Path, text: str, told: str
) -> None:
    file.write_text(text)
    with pytest.raises(SettingsError, match=told) as caught:
        settings(file)
    assert str(file) in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "pasted",
    [
        "sk-proj-abc",
        "gsk_abc",
        "hf_AbC",
        "AKIA0123456789ABCDEF",
        "a1b2c3d4e5f6a7b8c9d0",
        "a b",
        "$X",
    ],
)
def test_a_key_where_a_name_belongs_is_refused_and_not_repeated(file: Path, pasted: str) -> None:
    with pytest.raises(SettingsError, match="never the key itself") as caught:
        settings(file, PINCITE_LLM_CHEAP_API_KEY_ENV=pasted)
    assert pasted not in str(caught.value)
    assert "environment PINCITE_LLM_CHEAP_API_KEY_ENV: " in str(caught.value)


@pytest.mark.parametrize("value", ["much", "1,5", "-1", "nan"])
def test_a_variable_that_is_no_number_is_told(file: Path, value: str) -> None:
    with pytest.raises(SettingsError, match="PINCITE_CAUTION: "):
        settings(file, PINCITE_CAUTION=value)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"PINCITE_CONFIG names .*none\.toml, which is not"):
        settings(tmp_path / "none.toml")
    with pytest.raises(SettingsError, match="cannot be read: Is a directory"):
        settings(tmp_path)
    latin = tmp_path / "latin.toml"
    latin.write_bytes("# für".encode("latin-1"))
    with pytest.raises(SettingsError, match="is not UTF-8"):
        settings(latin)
    latin.write_bytes(b"#" * 2_000_000)
    with pytest.raises(SettingsError, match="too large"):
        settings(latin)
    latin.write_text(f"x = {'[' * 100_000}")
    with pytest.raises(SettingsError, match="is not TOML"):
        settings(latin)


def test_a_library_cannot_bring_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("config.toml", "pincite.toml", ".pincite/config.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(FULL)
    monkeypatch.chdir(tmp_path)
    assert user_settings({"PINCITE_CONFIG": "/dev/null"}).profiles == {}


def test_a_profile_becomes_a_writer_with_the_key_of_its_variable(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINCITE_CONFIG", str(file))
    monkeypatch.setenv("LLM_KEY", KEY)
    access = model_access(with_keys(user_settings(os.environ).profiles))
    assert access.profiles["balanced"].api_key == KEY
    assert access.profiles["cheap"].api_key is None
    embedders = Embedders(access)
    assert embedders.writer("balanced").name == "openai:large at llm.example"
    assert embedders.writer("balanced") is embedders.writer("balanced")
    assert embedders.writer("cheap").name == "openai:qwen at localhost"
    assert KEY not in repr(access) + repr(embedders.writer("balanced"))


def test_a_profile_that_cannot_be_used_says_what_to_do(file: Path) -> None:
    embedders = Embedders(
        ModelAccess(
            profiles={
                "balanced": Profile(base_url="http://h/v1", model="m", api_key_env="LLM_KEY")
            },
            settings_file=file,
        )
    )
    with pytest.raises(SettingsError, match="set the environment variable LLM_KEY"):
        embedders.writer("balanced")
    with pytest.raises(
        SettingsError, match=r"write a table \[llm\.premium\] with base_url"
    ) as told:
        embedders.writer("premium")
    assert str(told.value).endswith(f" to {file}")


def test_a_key_that_cannot_be_sent_is_refused_without_showing_it() -> None:
    profile = Profile(base_url="http://h/v1", model="m", api_key_env="LLM_KEY", api_key=f"{KEY}\n")
    with pytest.raises(SettingsError, match="the API key is empty or holds") as told:
        Embedders(ModelAccess(profiles={"cheap": profile})).writer("cheap")
    assert KEY not in str(told.value)


def test_a_judge_is_nobody_the_profiles_model_or_a_folders(tmp_path: Path) -> None:
    profile = Profile(base_url="http://h/v1", model="m")
    embedders = Embedders(ModelAccess(profiles={"cheap": profile}))
    assert embedders.judge("", "cheap") is None
    judge = embedders.judge("model", "cheap")
    assert isinstance(judge, LanguageModelJudge)
    assert judge.name == "openai:m at h"
    assert isinstance(embedders.judge(str(tmp_path), None), EntailmentJudge)
    with pytest.raises(SettingsError, match="no profile is chosen"):
        embedders.judge("model", None)
    with pytest.raises(SettingsError, match="unknown judge"):
        embedders.judge("nobody", "cheap")


def run(*arguments: str, **environ: str) -> Result:
    return CliRunner().invoke(cli, arguments, env=environ)


def test_the_path_is_told_whatever_the_file_holds(file: Path) -> None:
    file.write_text("[")
    told = run("config", "path", PINCITE_CONFIG=str(file))
    assert (told.exit_code, told.output) == (0, f"{file}\n")


def test_show_tells_each_value_and_where_it_comes_from(file: Path) -> None:
    environ = {"PINCITE_CONFIG": str(file), "PINCITE_CAUTION": "0.9", "LLM_KEY": KEY}
    told = run("config", "show", **environ)
    assert told.exit_code == 0
    lines = {line.split()[0]: line.split()[1:] for line in told.output.splitlines()}
    assert lines["ask.caution"] == ["0.9", "environment", "PINCITE_CAUTION"]
    assert lines["ask.budget"] == ["3000", str(file)]
    assert lines["llm.balanced.api_key_env"] == ["LLM_KEY", "(is", "set)", str(file)]
    assert "llm.premium.model" not in lines
    as_json = run("config", "show", "--json", **environ)
    found = {one["name"]: one for one in json.loads(as_json.output)["settings"]}
    assert found["llm.balanced.api_key_env"]["is_set"] is True
    assert found["ask.profile"] == {
        "name": "ask.profile",
        "value": "balanced",
        "source": str(file),
    }
    assert KEY not in told.output + as_json.output


def test_show_tells_what_is_not_set(tmp_path: Path) -> None:
    told = run("config", "show", PINCITE_CONFIG="", XDG_CONFIG_HOME=str(tmp_path))
    assert f"{tmp_path}/pincite/config.toml (not there)" in told.output
    assert "ask.profile" in told.output
    assert "none" in told.output


@pytest.mark.parametrize("arguments", [("config", "show"), ("config", "show", "--json")])
def test_a_wrong_file_is_one_line_and_an_exit_code(file: Path, arguments: tuple[str, ...]) -> None:
    file.write_text(f"[llm.cheap]\napi_key = '{KEY}'")
    told = run(*arguments, PINCITE_CONFIG=str(file))
    assert told.exit_code == 2
    assert "keys are not allowed in this file" in told.output
    assert KEY not in told.output


def test_every_setting_and_its_variable_is_documented() -> None:
    page = (Path(__file__).parent.parent.parent / "docs" / "settings.md").read_text()
    for name in KINDS:
        table, _, key = name.rpartition(".")
        assert f"`{key}`" in page
        assert table.startswith("llm.") or f"`{variable_of(name)}`" in page
    assert "`PINCITE_LLM_BALANCED_API_KEY_ENV`" in page


def test_an_option_goes_before_a_variable_and_a_variable_before_the_file(
    file: Path, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "lease.md").write_text("# Lease\n\nThe lease of the harbour office ends in June.\n")
    with open_library(notes) as library:
        library.index()
    file.write_text("[ask]\ncaution = 1.0\n")
    asked = ("ask", "--library", str(notes), "when does the lease of the harbour office end?")
    by_file = run(*asked, PINCITE_CONFIG=str(file))
    by_variable = run(*asked, PINCITE_CONFIG=str(file), PINCITE_CAUTION="0.0")
    by_option = run(*asked, "--caution", "1", PINCITE_CONFIG=str(file), PINCITE_CAUTION="0.0")
    assert [one.exit_code for one in (by_file, by_variable, by_option)] == [11, 0, 11]


def test_an_index_that_a_model_cuts_asks_the_model_of_the_settings(tmp_path: Path) -> None:
    (tmp_path / "lease.md").write_text("# Lease\n\nIt ends in May.\n\nThe rent is 900 euros.\n")
    environ = {
        "PINCITE_LLM_CHEAP_BASE_URL": "http://127.0.0.1:9/v1",
        "PINCITE_LLM_CHEAP_MODEL": "nobody",
    }
    building = ["index", "build", str(tmp_path), "--model", "hashing", "--policy", "semantic"]
    built = CliRunner(env=environ).invoke(cli, building)
    assert built.exit_code == 0
    assert "127.0.0.1 cannot be reached" in built.output
