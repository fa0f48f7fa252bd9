"""The user's settings: a TOML file in their own configuration folder, and the environment.

Never a file of a library, which may come from a stranger and must not choose who gets to read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pincite.errors import SettingsError
from pincite.settings import (
    LOG_MODES,
    PROFILES,
    AskSettings,
    ProfileSettings,
    UserSettings,
    check_ask,
)

_MOST_BYTES = 1 << 20  # of the file; more is not a settings file
_OF_ASK: dict[str, type[Any]] = {"profile": str, "caution": float, "budget": int, "judge": str}
_OF_PROFILE = ("base_url", "model", "api_key_env")
KINDS: dict[str, type[Any]] = {
    **{f"ask.{name}": kind for name, kind in _OF_ASK.items()},
    **{f"llm.{profile}.{name}": str for profile in PROFILES for name in _OF_PROFILE},
    "log": str,
}
"""Every value that can be set, by its name in the file."""

_IN_WORDS = {str: "a text in quotes", float: "a number", int: "a whole number"}
# Keys of well-known services; and what is too long and too mixed for a name that people choose.
_LOOKS_LIKE_A_KEY = re.compile(
    r"(sk|pk|gsk|hf|xai|key)[-_]|(?=.*[a-z])(?=.*\d).{20,}|(?=.*\d)[A-Z\d]{16,}$"
)


def settings_file(environ: Mapping[str, str]) -> Path:
    """Where the file is, or would be."""
    named = environ.get("PINCITE_CONFIG")
    if named:
        try:
            return Path(named).expanduser()
        except RuntimeError:
            raise SettingsError("PINCITE_CONFIG names the home folder of an unknown user") from None
    import platformdirs

    return platformdirs.user_config_path("pincite") / "config.toml"


def variable_of(name: str) -> str:
    """The environment variable that goes before the file: ask.caution is PINCITE_CAUTION."""
    return f"PINCITE_{name.removeprefix('ask.').replace('.', '_').upper()}"


def user_settings(environ: Mapping[str, str]) -> UserSettings:
    """What the file says, and what the environment says instead; all of it checked.

    A value is never repeated in an error: somebody may have pasted a key there.
    """
    file = settings_file(environ)
    values: dict[str, Any] = {}
    sources = dict.fromkeys((name for name in KINDS if not name.startswith("llm.")), "default")
    for name, value in _flat(_read(file, is_named=bool(environ.get("PINCITE_CONFIG"))), file):
        values[name], sources[name] = _checked(name, value, str(file)), str(file)
    for name in KINDS:
        text = environ.get(variable_of(name))
        if text:
            sources[name] = f"environment {variable_of(name)}"
            values[name] = _checked(name, _parsed(text, KINDS[name]), sources[name])
    return UserSettings(
        asking=AskSettings(
            caution=values.get("ask.caution", AskSettings.caution),
            budget=values.get("ask.budget", AskSettings.budget),
        ),
        profile=None if (chosen := values.get("ask.profile", "")) in ("", "none") else chosen,
        judge=values.get("ask.judge", ""),
        profiles=dict(_profiles(values, file)),
        log=values.get("log", UserSettings.log),
        sources=sources,
    )


def _read(file: Path, *, is_named: bool) -> dict[str, Any]:
    try:
        with file.open("rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        if is_named:
            raise SettingsError(f"PINCITE_CONFIG names {file}, which is not there") from None
        return {}
    except OSError as error:
        raise SettingsError(
            f"the settings in {file} cannot be read: {error.strerror or error}"
        ) from None
    if len(content) > _MOST_BYTES:
        raise SettingsError(f"{file} is too large for a settings file")
    if not content:
        return {}
    import tomllib

    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise SettingsError(f"{file} is not UTF-8; save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(f"{file} is not TOML: {error}") from None


def _flat(table: Mapping[str, Any], file: Path, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Values by their dotted names; SettingsError for a name that there is not."""
    for key, value in table.items():
        name = f"{prefix}{key}"
        if name in KINDS:
            yield name, value
        elif isinstance(value, dict) and any(known.startswith(f"{name}.") for known in KINDS):
            yield from _flat(value, file, f"{name}.")
        else:
            raise SettingsError(f"{file} has an unknown setting {name!r}; {_known_like(name)}")


def _known_like(name: str) -> str:
    from difflib import get_close_matches

    if re.fullmatch(r"llm\.\w+\.(api_)?(key|token)", name):
        return "keys are not allowed in this file: api_key_env names the variable that holds it"
    near = get_close_matches(name, KINDS, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known are: {', '.join(KINDS)}"


def _parsed(text: str, kind: type[Any]) -> object:
    try:
        return kind(text)
    except ValueError:
        return None


def _checked(name: str, value: Any, source: str) -> Any:  # noqa: ANN401 — as its kind is
    kind = KINDS[name]
    if kind is float and type(value) is int:
        value = float(value)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise SettingsError(f"{source}: {name} must be {_IN_WORDS[kind]}")
    try:
        if name in ("ask.caution", "ask.budget"):
            check_ask(AskSettings(**{name.removeprefix("ask."): value}))
        elif isinstance(value, str):
            _check_text(name, value)
    except SettingsError as error:
        raise SettingsError(f"{source}: {error}") from None
    return value


def _check_text(name: str, value: str) -> None:
    if name == "ask.profile" and value not in (*PROFILES, "none", ""):
        raise SettingsError(f"{name} must be one of: {', '.join(PROFILES)}")
    if name == "log" and value not in LOG_MODES:
        raise SettingsError(f"log must be one of: {', '.join(LOG_MODES)}")
    # Not one that depends on where somebody stands, as that may be a stranger's folder.
    if name == "ask.judge" and value not in ("", "model") and not value.startswith(("/", "~")):
        raise SettingsError(f'{name} must be "model" or the full path of a folder')
    if name.endswith(".api_key_env") and (
        not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value) or _LOOKS_LIKE_A_KEY.match(value)
    ):
        raise SettingsError(
            f"{name} must be the name of an environment variable that holds the key, such as "
            "OPENAI_API_KEY, never the key itself"
        )
    if name.endswith(".base_url"):
        try:
            url = urlsplit(value)
        except ValueError:
            url = urlsplit("")
        if url.scheme not in ("http", "https") or not url.hostname:
            raise SettingsError(f"{name} must begin with http(s)://host")
        if "@" in url.netloc or url.query or url.fragment:
            raise SettingsError(
                f"{name} must not carry a password or a key; put the key into an environment "
                "variable and name that in api_key_env"
            )
    if name.endswith(".model") and not value.strip():
        raise SettingsError(f"{name} is empty")


def _profiles(values: Mapping[str, Any], file: Path) -> Iterator[tuple[str, ProfileSettings]]:
    for profile in PROFILES:
        given = {
            name: values[f"llm.{profile}.{name}"]
            for name in _OF_PROFILE
            if f"llm.{profile}.{name}" in values
        }
        for needed in ("base_url", "model"):
            if given and needed not in given:
                name = f"llm.{profile}.{needed}"
                raise SettingsError(
                    f"the profile {profile!r} has no {needed}; write it to [llm.{profile}] in "
                    f"{file}, or set {variable_of(name)}"
                )
        if given:
            yield profile, ProfileSettings(**given)
