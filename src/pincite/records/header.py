"""How an index is made, and of which files."""

from __future__ import annotations

from dataclasses import dataclass

LARGEST_FILE_BYTES = 1 << 32  # the highest limit there can be: a file is read as a whole
_MOST_DIMENSIONS = 65_536
_MOST = (1 << 31) - 1  # of whatever is counted otherwise


@dataclass(frozen=True, slots=True)
class ModelCard:
    """Which embedding space vectors belong to. Vectors of different fingerprints never meet."""

    name: str  # what the user writes after --model
    fingerprint: str
    dimensions: int
    token_limit: int  # of one window, with the model's own special tokens


@dataclass(frozen=True, slots=True)
class LibraryHeader:
    """How an index is made; kept inside it, so that an update works like the build did."""

    name: str
    policy: str
    model: ModelCard
    ingestion_version: int
    max_file_bytes: int  # larger files are left out
    edition: int = 1  # one more for each time that everything was to be done again
    options: tuple[str, ...] = ()  # what else is read: "comments", "tracked-changes"
    analysis: str = ""  # checksum of the analysis file that chunks were described by
    summaries: str = ""  # the language model that writes them; taken from the text otherwise
    labels: str = ""  # checksum of the labels file that documents were labelled by

    def __post_init__(self) -> None:
        """ValueError where no index can be so: a header may come from a stranger."""
        model = self.model
        for what, number, most in (
            ("max_file_bytes", self.max_file_bytes, LARGEST_FILE_BYTES),
            ("ingestion_version", self.ingestion_version, _MOST),
            ("edition", self.edition, _MOST),
            ("dimensions", model.dimensions, _MOST_DIMENSIONS),
            ("token_limit", model.token_limit, _MOST),
        ):
            if type(number) is not int or not 1 <= number <= most:
                raise ValueError(f"{what} must be a number from 1 to {most:,}, not {number!r}")
        texts = (self.name, self.policy, model.name, model.fingerprint, self.analysis, self.labels)
        if not all(isinstance(one, str) for one in (*texts, self.summaries, *self.options)):
            raise ValueError("a name is no text")
        if not self.name:
            raise ValueError("the library has no name")

    @property
    def recipe(self) -> str:
        """How documents are made: where it changes, each of them has to be made again."""
        limit = self.model.token_limit  # windows are cut by it
        parts = [self.policy, self.ingestion_version, limit, self.edition]
        labels = f"labels {self.labels[:12]}" if self.labels else ""
        more = ("+".join(self.options), self.analysis[:12], self.summaries, labels)
        parts.extend(part for part in more if part)
        return "/".join(map(str, parts))


_LACKING = "/lacking "


def recipe_lacking(recipe: str, chunks: int) -> str:
    """The recipe of a document of which so many chunks have no vector: it is made again."""
    whole, _ = split_recipe(recipe)
    return f"{whole}{_LACKING}{chunks}" if chunks else whole


def split_recipe(recipe: str) -> tuple[str, int]:
    """How a document was made, and how many of its chunks have no vector."""
    whole, _, count = recipe.partition(_LACKING)
    return whole, int(count) if count.isdecimal() else 0


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to read. `path` is relative, with forward slashes, spelled as the disk spells it."""

    path: str
    size: int  # bytes
    checksum: str  # SHA-256 of its bytes, in hexadecimal; empty where it was not needed yet
