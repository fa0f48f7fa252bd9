"""A library of any size that costs what a real one costs: words and vectors drawn from real ones.

Its files are recipes: nothing is kept, and the same file always becomes the same document. The
texts mean nothing, so it is for measuring speed, memory and disk, never quality.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray
from public_sets.sets import LIBRARY

from pincite.records import (
    Block,
    BlockKind,
    Chunk,
    Content,
    Document,
    FoundFile,
    Locator,
    ModelCard,
    Section,
    Window,
    WindowedChunk,
    document_from,
)
from pincite.vectors import Vector

FEWEST, MOST = 100, 1_000  # chunks of a document: one of each would make a million transactions
_BLANK_LINE = "\n\n"
# How far vectors lie from the centre of their cluster: at a cosine of 0.78 on average.
_SPREAD = 0.8


@dataclass(frozen=True)
class Vocabulary:
    """How often each word stands in some texts, and how many words each text has."""

    words: NDArray[np.object_]
    shares: NDArray[np.float64]  # of all words up to this one; the last is 1
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Vocabulary:
        """What to draw from. Words keep their case and their punctuation, so sentences end."""
        counts: Counter[str] = Counter()
        lengths = []
        for text in texts:
            words = text.split()
            counts.update(words)
            lengths.append(len(words))
        shares = np.cumsum(np.fromiter(counts.values(), np.float64, len(counts)))
        return cls(
            words=np.array(list(counts), dtype=np.object_),
            shares=shares / shares[-1],
            lengths=np.array([length for length in lengths if length], np.int64),
        )

    def passage(self, random: np.random.Generator) -> str:
        """As many words as one of the texts has, each as likely as it is there."""
        length = random.choice(self.lengths)
        drawn = np.searchsorted(self.shares, random.random(length), side="right")
        return " ".join(self.words[drawn])


class SyntheticLibrary:
    """Documents of one passage to a chunk, with as many chunks in all as asked for."""

    def __init__(self, vocabulary: Vocabulary, *, chunks: int, seed: int = 7) -> None:
        self._vocabulary = vocabulary
        self._seed = seed
        self._chunks = {
            f"{number:05}.txt": size
            for number, size in enumerate(document_sizes(chunks, np.random.default_rng(seed)))
        }

    @property
    def files(self) -> list[FoundFile]:
        """All files, as a folder would give them."""
        return [
            FoundFile(path, len(recipe), hashlib.sha256(recipe).hexdigest())
            for path in self._chunks
            for recipe in (self._recipe(path),)
        ]

    def read(self, path: str) -> Document:
        """The document that the file's recipe makes."""
        recipe = self._recipe(path)
        random = np.random.default_rng(list(recipe))
        passages = [self._vocabulary.passage(random) for _ in range(self._chunks[path])]
        text = _BLANK_LINE.join(passages)
        ends = accumulate(len(passage) + len(_BLANK_LINE) for passage in passages)
        content = Content(
            type="txt",
            text=text,
            sections=(Section(heading_path=(), level=0, start=0, end=len(text)),),
            blocks=tuple(
                Block(BlockKind.PARAGRAPH, after - len(_BLANK_LINE) - len(passage), after - 2)
                for passage, after in zip(passages, ends, strict=True)
            ),
        )
        return document_from(content, library=LIBRARY, path=path, data=recipe)

    def _recipe(self, path: str) -> bytes:
        return f"{self._seed} {path} {self._chunks[path]}".encode()


def document_sizes(chunks: int, random: np.random.Generator) -> list[int]:
    """So many chunks as documents: many shorter ones and few long ones, the last as it comes."""
    sizes: list[int] = []
    left = chunks
    while left > 0:
        size = round(np.exp(random.uniform(np.log(FEWEST), np.log(MOST))))
        sizes.append(min(size, left))
        left -= sizes[-1]
    return sizes


def chunk_by_paragraph(document: Document) -> list[WindowedChunk]:
    """Each paragraph as a chunk with one window; they are one line each, with a blank one after."""
    return [
        WindowedChunk(
            Chunk(
                document_id=document.id,
                modality=document.modality,
                position=position,
                start=block.start,
                end=block.end,
                text=text,
                sections=document.sections,
                locator=Locator(2 * position + 1, 2 * position + 1),
                tokens=text.count(" ") + 1,
            ),
            (Window(block.start, block.end, text),),
        )
        for position, block in enumerate(document.blocks)
        for text in (document.text[block.start : block.end],)
    ]


class ClusteredEmbedder:
    """Gives each text a vector near one of the centres, chosen by its words alone, at no cost."""

    batch = 64
    parallel = 1
    passage_overhead = 0

    def __init__(self, centres: Sequence[Vector]) -> None:
        self._centres = centres
        dimensions = len(centres[0])
        self._noise = np.float32(_SPREAD / np.sqrt(dimensions))
        self.card = ModelCard(
            name="clustered",
            fingerprint=f"clustered:{dimensions}:{len(centres)}",
            dimensions=dimensions,
            token_limit=256,
        )

    def token_starts(self, text: str) -> Sequence[int]:
        """Where each word begins."""
        return list(accumulate((len(word) + 1 for word in text.split()[:-1]), initial=0))

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """One unit vector for each text, in their order."""
        return [self.embed_question(text) for text in texts]

    def embed_question(self, text: str) -> Vector:
        """Questions and passages are treated alike."""
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        random = np.random.default_rng(int.from_bytes(digest, "little"))
        centre = self._centres[int(random.integers(len(self._centres)))]
        noise = random.standard_normal(self.card.dimensions, np.float32)
        vector: Vector = centre + self._noise * noise
        vector /= np.linalg.norm(vector)
        return vector

    def foreignness(self, question: str) -> float:
        """No language is."""
        return 0.0

    def knows(self, word: str) -> bool:
        """It has no words of its own."""
        return False
