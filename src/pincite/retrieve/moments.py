"""A result of a recording → what was said and seen around it, in order of time."""

from __future__ import annotations

from typing import Literal

from pincite.ports import Store
from pincite.records import Filters, Modality, Moment, Result, Said

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
    # The result's document, and the others of the same recording.
    recording = result.document.metadata.recording
    others = store.recorded_documents(recording, filters) if recording is not None else []
    ids = dict.fromkeys((result.document.id, *others))
    documents = [document for one in ids if (document := store.load_document(one)) is not None]
    told = [document.metadata.duration or 0.0 for document in documents]
    ends = [place.time_end or 0.0 for document in documents for place in document.places]
    media_end = max([*told, *ends], default=0.0)
    first, last = at.time_start, max(at.time_end or 0.0, at.time_start)
    around = _AROUND.get(result.chunk.modality, _AROUND_WORDS)
    start, end = max(first - around, 0.0), last + around
    end = max(min(end, media_end), last) if media_end else end
    lines = []
    for document in documents:
        is_screen = document.modality is Modality.VIDEO_FRAME
        for place in document.places:
            if place.time_start is None:
                continue
            until = place.time_end if place.time_end is not None else place.time_start
            is_anchor = (
                document.id == result.document.id
                and place.start < result.quote.end
                and place.end > result.quote.start
            )
            if not is_anchor and (place.time_start > end or until < start):
                continue
            # Without the heading that only tells the time of a frame.
            written = document.shown(place.start, place.end).splitlines()
            kept = [line for line in written if not line.startswith("#")] or written
            text = " ".join(" ".join(kept).split())
            kind: Literal["Screen", "Audio"] = "Screen" if is_screen else "Audio"
            said = Said(kind, place.time_start, until, text, document.path, is_anchor)
            lines.append(said)
    lines.sort(key=lambda one: (one.start, one.end, one.kind, one.text))
    return Moment(start, end, tuple(lines))
