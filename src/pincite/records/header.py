"""How an index is made, of which files, and which indexes of one library there are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pincite.errors import IndexMissing

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


_LABELLED = "/labelled "
_LACKING = "/lacking "


def recipe_labelled(recipe: str, checksum: str) -> str:
    """The recipe of a document whose own labels have this checksum; where it has none, the same."""
    return f"{recipe}{_LABELLED}{checksum[:12]}" if checksum else recipe


def differs_in_labels(recipe: str, other: str) -> bool:
    """Whether two recipes differ in the document's own labels and in nothing else."""
    one, two = (each.partition(_LABELLED)[0] for each in (recipe, other))
    return recipe != other and one == two and not split_recipe(recipe)[1]


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


@dataclass(frozen=True, slots=True)
class Generations:
    """The generations of a library by number. Each change of them is one step."""

    live: int = 1  # what searches use
    before: int | None = None  # what was live before it, for a rollback
    next: int | None = None  # what is being made
    last: int = 1  # the highest number that was ever given: none is given twice

    @property
    def kept(self) -> frozenset[int]:
        """Those that are still wanted."""
        return frozenset(one for one in (self.live, self.before, self.next) if one is not None)

    def begun(self) -> Generations:
        """With a next one; the one that is being made already, where there is one."""
        if self.next is not None:
            return self
        return replace(self, next=self.last + 1, last=self.last + 1)

    def switched(self) -> Generations:
        """The next one is live."""
        if self.next is None:
            raise IndexMissing("there is no other generation to switch to; run `pincite reindex`")
        return replace(self, live=self.next, before=self.live, next=None)

    def replaced(self) -> Generations:
        """The next one is live, and it is another library: nothing leads back."""
        return replace(self.switched(), before=None)

    def rolled_back(self) -> Generations:
        """The one before is live again, and can be left again in the same way."""
        if self.before is None:
            raise IndexMissing(
                "there is no earlier generation to go back to: none was left by a switch, or it "
                "was removed; `pincite reindex --status` shows what there is"
            )
        return replace(self, live=self.before, before=self.live)

    def without_next(self) -> Generations:
        """What was being made is given up."""
        return replace(self, next=None)

    def without_before(self) -> Generations:
        """There is no way back any more."""
        if self.before is None:
            raise IndexMissing("there is no earlier generation to remove")
        return replace(self, before=None)
