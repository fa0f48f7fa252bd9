"""A result of a recording → what was said and seen around it, in order of time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pincite.ports import Store
from pincite.records import Document, Filters, Modality, Moment, Place, Result, Said

_AROUND = {Modality.VIDEO_FRAME: 10.0}  # seconds; a frame is seen at once
_AROUND_WORDS = 15.0


def moment(store: Store, result: Result, filters: Filters = Filters()) -> Moment | None:
    """What stands around a result of a recording; None where it has no time.

    The transcript and the frames of one recording are put together by its name; what the filters
    hold back is not told here either. What was found is always there, however long it is.
    """
    at = result.quote.locator
    if at.time_start is None:
        return None
    documents = _of_recording(store, result, filters)
    media_end = _media_end(documents)
    first, last = at.time_start, max(at.time_end or 0.0, at.time_start)
    around = _AROUND.get(result.chunk.modality, _AROUND_WORDS)
    start, end = max(first - around, 0.0), last + around
    end = max(min(end, media_end), last) if media_end else end
    anchor = (result.document.id, result.quote.start, result.quote.end)
    lines = [said for document in documents for said in _lines(document, start, end, anchor)]
    lines.sort(key=lambda one: (one.start, one.end, one.kind, one.text))
    return Moment(start, end, tuple(lines))


def _of_recording(store: Store, result: Result, filters: Filters) -> list[Document]:
    """The result's document, and the others of the same recording."""
    recording = result.document.metadata.recording
    others = store.recorded_documents(recording, filters) if recording is not None else []
    ids = dict.fromkeys((result.document.id, *others))
    return [document for one in ids if (document := store.load_document(one)) is not None]


def _media_end(documents: Sequence[Document]) -> float:
    """When the recording ends, as far as is known."""
    told = [document.metadata.duration or 0.0 for document in documents]
    ends = [place.time_end or 0.0 for document in documents for place in document.places]
    return max([*told, *ends], default=0.0)


def _lines(
    document: Document, start: float, end: float, anchor: tuple[str, int, int]
) -> Iterator[Said]:
    is_screen = document.modality is Modality.VIDEO_FRAME
    for place in document.places:
        if place.time_start is None:
            continue
        until = place.time_end if place.time_end is not None else place.time_start
        is_anchor = _holds(document, place, anchor)
        if is_anchor or (place.time_start <= end and until >= start):
            yield Said(
                "Screen" if is_screen else "Audio",
                place.time_start,
                until,
                _text(document, place),
                document.path,
                is_anchor,
            )


def _holds(document: Document, place: Place, anchor: tuple[str, int, int]) -> bool:
    document_id, start, end = anchor
    return document.id == document_id and place.start < end and place.end > start


def _text(document: Document, place: Place) -> str:
    """What was said, without the heading that only tells the time of a frame."""
    lines = document.shown(place.start, place.end).splitlines()
    kept = [line for line in lines if not line.startswith("#")] or lines
    return " ".join(" ".join(kept).split())
