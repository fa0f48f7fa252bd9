"""A citation opened at its words: one page, made here, without a script."""

from __future__ import annotations

import html
import re

from pincite.records import CitedPlace, cited_file, place_cited
from pincite.text.lines import LineIndex
from pincite.text.times import clock_range

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox allow-downloads"
)
_MOST_WORDS = 400  # of a quote that are looked for
_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.55 system-ui,sans-serif;max-width:52em;margin:2em auto;padding:0 1em}"
    "h1{font-size:1.2em;margin-bottom:0}.place{opacity:.75;margin-top:.2em}"
    ".note{border-left:.3em solid #c60;padding-left:.7em}"
    "ol{list-style:none;padding:0;margin:1.5em 0;font:15px/1.6 ui-serif,serif}"
    "li{display:flex;white-space:pre-wrap;overflow-wrap:anywhere}"
    "li>span:first-child{flex:none;min-width:4.5em;padding-right:1em;white-space:nowrap;"
    "opacity:.5;font:12px/2 ui-monospace,monospace}"
    "li.near{opacity:.6}mark{background:#fd6;color:#000;scroll-margin-top:35vh}"
)


def page(place: CitedPlace, words: tuple[int, int] | None, original: str) -> str:
    """The cited lines among their neighbours, the words at these offsets marked; all escaped."""
    path, kind = cited_file(place.document)
    where = place_cited(path, kind, place.heading_path, place.locator)
    title = html.escape(place.document.title or path)
    notes = [
        *(["This is an earlier version of the document."] if place.superseded else []),
        *(["The file has changed since it was indexed."] if place.changed else []),
        *([f"Left out here: {', '.join(place.flags)}."] if place.flags else []),
    ]
    told = "".join(f'<p class="note">{html.escape(note)}</p>' for note in notes)
    file = f'<p><a href="{html.escape(original)}" download>The original file</a></p>'
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width"><meta name="referrer" '
        f'content="no-referrer"><style>{_STYLE}</style><h1>{title}</h1>'
        f'<p class="place">{html.escape(where)}</p>{told}<ol>{_rows(place, words)}</ol>'
        f"{file if original else ''}</html>"
    )


def _rows(place: CitedPlace, words: tuple[int, int] | None) -> str:
    quote, first_of_quote = "", place.first_line
    if words is not None and words[0] < words[1] <= len(place.document.text):
        quote = place.document.shown(*words)
        first_of_quote = LineIndex(place.document.text).line_of(words[0])
    above = 0  # rows before the one in which the quote begins
    if place.captions:
        labels = [clock_range(one.start, one.end) for one in place.captions]
        lines = [one.text for one in place.captions]
        inside = [one.is_anchor for one in place.captions]
    else:
        numbers = range(place.first_line, place.first_line + len(place.lines))
        labels, lines = [str(number) for number in numbers], list(place.lines)
        above = max(first_of_quote - place.first_line, 0)
        first, last = place.locator.line_start, place.locator.line_end
        inside = [first <= number <= last for number in numbers]
    lines = [line.replace("\n", " ") for line in lines]
    before = sum(len(line) + 1 for line in lines[:above])
    marked = _marked("\n".join(lines), quote, before).split("\n")
    return "".join(
        f"<li{'' if is_cited else ' class=near'}><span>{html.escape(label)}</span>"
        f"<span>{line}</span></li>"
        for label, line, is_cited in zip(labels, marked, inside, strict=True)
    )


def _marked(text: str, quote: str, start: int) -> str:
    """The text as HTML, the quote's words from there on marked on each line that has some."""
    words = quote.split()[:_MOST_WORDS]
    wanted = re.compile(r"\s+".join(map(re.escape, words)))
    found = wanted.search(text, start) if words else None
    if found is None:
        return html.escape(text)
    lines = html.escape(found[0]).split("\n")
    middle = "\n".join(f"<mark>{line}</mark>" for line in lines)
    middle = middle.replace("<mark>", "<mark id=quote>", 1)  # where the browser goes
    return html.escape(text[: found.start()]) + middle + html.escape(text[found.end() :])
