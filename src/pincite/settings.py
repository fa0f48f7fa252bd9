"""Numbers and names a user may choose: frozen, inert, read once at the edge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, get_args

from pincite.errors import SettingsError
from pincite.records import Filters, Mode
from pincite.records.journal import LogMode

# Raised whenever reading or chunking would give other chunks for the same file: an index made by
# an older version is then re-read by the next update.
INGESTION_VERSION = 4

DEFAULT_MODEL = "minilm"
SMALLEST_TOKEN_LIMIT = 32  # of a model; less leaves no room for title and headings
DEFAULT_POLICY = "vault"
MODES = get_args(Mode)
Fusion = Literal["scores", "ranks"]
FUSIONS = get_args(Fusion)
LOG_MODES = get_args(LogMode)
# In the environment before onnxruntime is loaded: it reads this once, and would otherwise keep a
# record of its use in the home folder and send it to its makers.
NO_TELEMETRY = {"ORT_DISABLE_TELEMETRY": "1"}
# Likewise before NumPy is loaded: starting its threads takes longer than one question can save, and
# of several questions at once they take the cores from each other, waiting in loops.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
MOST_WEIGHT = 1_000
DEFAULT_BUDGET = 1_200  # tokens of a context
MOST_RESULTS = 1_000  # a reader looks at ten; a program that wants all should read the store


@dataclass(frozen=True, kw_only=True)
class ReadingLimits:
    """What a process that reads files may use for one of them."""

    memory_bytes: int = 512 << 20
    seconds: int = 30  # of the processor
    clock_seconds: int = 300  # for one that only waits; a busy machine must not come near


@dataclass(frozen=True, kw_only=True)
class ChunkPolicy:
    """How a document is cut. Sizes are tokens of the embedder's own tokenizer."""

    name: str
    minimum: int  # smaller neighbours are put together up to here
    maximum: int  # never more than this
    overlap: int  # repeated from the end of the chunk before
    # Sections of this heading level and above are never put together; 0: only size decides.
    apart_at_level: int = 0
    whole_section: int | None = None  # a section up to this size stays whole, beyond `maximum`
    follow_headings: bool = True  # False: only size decides, headings are text like any other
    shorten_code: bool = False  # of a long block of code only the beginning is embedded
    document_and_section: bool = False  # embedded below "[Document: … | Section: …]"
    cut_minutes: bool = True  # recordings are cut into minutes; False: by size, with the overlap


POLICIES = {
    policy.name: policy
    for policy in (
        ChunkPolicy(name="vault", minimum=300, maximum=800, overlap=0),
        ChunkPolicy(name="flat", minimum=0, maximum=512, overlap=50, follow_headings=False),
        # As flat where the language model fails that is to choose the boundaries.
        ChunkPolicy(name="semantic", minimum=0, maximum=512, overlap=50, follow_headings=False),
        ChunkPolicy(
            name="wiki",
            minimum=0,
            maximum=500,
            overlap=100,
            apart_at_level=2,
            whole_section=1_000,
            shorten_code=True,
            document_and_section=True,
        ),
        ChunkPolicy(name="brain", minimum=700, maximum=1_000, overlap=125, cut_minutes=False),
    )
}


POLICY_NAMES = (*POLICIES, "rule_based")


def policy_named(name: str) -> ChunkPolicy:
    """The preset of that name; `rule_based` is another one for `flat`."""
    try:
        return POLICIES["flat" if name == "rule_based" else name]
    except KeyError:
        known = ", ".join(POLICY_NAMES)
        raise SettingsError(f"unknown chunk policy {name!r}; choose one of: {known}") from None


DEFAULT_MAX_FILE_BYTES = 20_000_000  # a larger text is nearly always a dump or a log


RUNS_FOLDER = "evals"  # beside an index
APART_FILE = "apart"  # there for as long as the documents' files are elsewhere
CONVERTED_FOLDER = ".converted"  # what was recognised in images and recordings, as Markdown
ANALYSIS_FILE = "pincite-analysis.json"  # what is known of the code that a wiki is about
LABELS_FILE = "pincite-labels.json"  # what is said of files that cannot say it themselves
UPLOADS_FOLDER = "uploads"  # of a library: files that were handed in, each in a folder of its own
GLOSSARY_FILE = "pincite-glossary.txt"  # what the library's people call things
EVAL_FILE = "pincite-eval.jsonl"  # questions that the library is measured with
REPORT_FILE = "pincite-eval.html"  # how it went
READING_OPTIONS = ("comments", "tracked-changes")


@dataclass(frozen=True, kw_only=True)
class SourceSettings:
    """Which files of a folder are taken."""

    max_file_bytes: int = DEFAULT_MAX_FILE_BYTES
    ignore_files: tuple[str, ...] = (".gitignore", ".pinciteignore")
    # At the top: the hidden folder that is looked into, and the files that are no documents.
    hidden_folder: str = CONVERTED_FOLDER
    own_files: tuple[str, ...] = (
        *(ANALYSIS_FILE, LABELS_FILE, GLOSSARY_FILE, EVAL_FILE, REPORT_FILE),
    )


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """How a question is searched."""

    # Candidates of each search before fusion; fewer cost up to 2 points of nDCG@10.
    top_k_words: int = 100
    top_k_vector: int = 100
    fusion: Fusion = "scores"
    # What each search counts, and likeness to the best that a first fusion found (scores only).
    words_weight: float = 0.4
    vector_weight: float = 0.4
    feedback_weight: float = 0.2
    codes_weight: float = 0.5
    numbers_weight: float = 0.3  # of a number that hardly any chunk has; less of a common one
    named_weight: float = 0.3  # of a document that the question calls by its title or file name
    agent_weight: float = 0.05  # of a document that is labelled for the agent who asks
    route: int = 0  # documents that are preferred, those whose catalog entry fits best; 0 is none
    route_weight: float = 0.02
    # What words gain, and what vector loses, in a language that the model does not know at all.
    foreign_words: float = 0.5
    foreign_vector: float = 0.3
    rrf_k: int = 60  # of ranks; the constant of the paper
    absent_rank: int | None = None  # counts for a chunk that a search did not rank; 1,000, say
    top_k: int = 10
    # How a question is understood before it is searched.
    acronyms: bool = False  # what the documents say abbreviations stand for
    glossary: bool = True  # what the library's glossary file says
    typos: bool = True  # words that no chunk has, against those that the library has
    date_words: bool = False  # "since March" restricts, and is not searched for; English only
    expand: str = ""  # a language model that gives other words: openai:MODEL
    # Chunks of one document among the results; 0 is no limit. None is 3, but of a document that
    # the question names, or that has most of the best hits, as many as there are.
    per_document: int | None = None
    similarity_floor: float = 0.25  # what has no word of the question must be so near; -1 is none
    context_chunks: int = 15  # that a context is made of, at most
    near_identical: float = 0.9  # from which share of word pairs two texts are one; 0 keeps all
    # A closer look at the best hits: `maxsim`, a folder with a model, or `service:MODEL`.
    rerank: str | None = None
    rerank_top: int = 20  # hits that are looked at
    rerank_weight: float = 0.5  # against the fused score; 1 is as much
    rerank_seconds: float = 2.0  # after which the remaining hits keep their order


# Searches that people choose by name, as `--set preset=brain`.
SEARCH_PRESETS = {
    "brain": SearchSettings(top_k_words=20, top_k_vector=40, context_chunks=15, rerank=None),
}


@dataclass(frozen=True, kw_only=True)
class AskSettings:
    """How a question is answered."""

    caution: float = 0.3  # how likely the best evidence must answer; below, there is no answer
    claims: int = 5  # at most, of an answer
    nearest: int = 3  # places shown where there is no answer
    budget: int = 2_000  # tokens of evidence that a language model is given
    strict: bool = False  # a claim that cannot be proven, or a model that fails, is no answer
    show_unsupported: bool = False  # what a language model wrote and nothing supports, struck out
    persona: str = ""  # how a language model should write, within our own rules


LONGEST_PERSONA = 4_000  # characters

# A language model for answers, named by what it costs.
PROFILES = ("cheap", "balanced", "premium")


@dataclass(frozen=True, kw_only=True)
class ProfileSettings:
    """One language model of an OpenAI-compatible server."""

    base_url: str
    model: str
    api_key_env: str = ""  # the name of the variable that holds the key, where it wants one


@dataclass(frozen=True, kw_only=True)
class UserSettings:
    """What the user's settings file and the environment say."""

    asking: AskSettings = AskSettings()
    profile: str | None = None  # which of the profiles writes answers; None: no language model
    judge: str = ""  # who else looks at its claims: "model", or a folder with an NLI model
    profiles: Mapping[str, ProfileSettings] = field(default_factory=dict)
    log: LogMode = "full"  # how much of each query is kept beside the index
    # Where each value comes from, by its name in the file, such as `ask.caution`.
    sources: Mapping[str, str] = field(default_factory=dict)


def check_ask(settings: AskSettings) -> None:
    """Refuse what cannot work."""
    if not isinstance(settings, AskSettings):
        raise SettingsError(f"asking must be AskSettings(…), not {settings!r}")
    if not 0 <= settings.caution <= 1:
        raise SettingsError(f"caution must be between 0 and 1, not {settings.caution}")
    if settings.claims < 1 or settings.nearest < 0:
        raise SettingsError("claims must be at least 1, and nearest must not be negative")
    if settings.budget < 1:
        raise SettingsError(f"the budget must be at least 1 token, not {settings.budget}")
    if len(settings.persona) > LONGEST_PERSONA:
        raise SettingsError(f"the persona is longer than {LONGEST_PERSONA:,} characters")


def check_search(mode: str, settings: SearchSettings, filters: Filters = Filters()) -> None:
    """Refuse what cannot work, before anything is loaded for it."""
    if not isinstance(settings, SearchSettings):
        raise SettingsError(f"settings must be SearchSettings(…), not {settings!r}")
    filters.check()
    if mode not in MODES:
        raise SettingsError(f"unknown mode {mode!r}; choose one of: {', '.join(MODES)}")
    if settings.fusion not in FUSIONS:
        known = ", ".join(FUSIONS)
        raise SettingsError(f"unknown fusion {settings.fusion!r}; choose one of: {known}")
    _check_weights(settings)
    if not -1 <= settings.similarity_floor <= 1 or not 0 <= settings.near_identical <= 1:
        raise SettingsError(
            "similarity_floor must be between -1 and 1, near_identical between 0 and 1"
        )
    if min(settings.rrf_k, settings.per_document or 0, settings.route) < 0:
        raise SettingsError("rrf_k, per_document and route must not be negative")
    if min(settings.top_k_words, settings.top_k_vector) < 1:
        raise SettingsError("top_k_words and top_k_vector must be at least 1")
    if settings.top_k not in range(1, MOST_RESULTS + 1):
        raise SettingsError(f"top-k must be between 1 and {MOST_RESULTS}, not {settings.top_k!r}")
    if not 1 <= settings.rerank_top <= MOST_RESULTS:
        raise SettingsError(
            f"rerank_top must be between 1 and {MOST_RESULTS}, not {settings.rerank_top}"
        )
    if not settings.rerank_seconds > 0:
        raise SettingsError(f"rerank_seconds must be above 0, not {settings.rerank_seconds}")


def _check_weights(settings: SearchSettings) -> None:
    weights = {
        name: value
        for name, value in asdict(settings).items()
        if name.endswith("_weight") or name.startswith("foreign_")
    }
    for name, value in weights.items():
        if not 0 <= value <= MOST_WEIGHT:  # NaN is not either
            raise SettingsError(f"{name} must be between 0 and {MOST_WEIGHT}, not {value}")
    if settings.words_weight + settings.vector_weight <= 0:
        raise SettingsError("words_weight and vector_weight must not both be 0")
