"""The slides of a presentation, or the pages of a drawing: each is a page."""

from __future__ import annotations

from pincite.reading.office.look import Look
from pincite.reading.office.opendocument.body import BodyReader
from pincite.reading.office.opendocument.names import DRAW, PRESENTATION, Element
from pincite.reading.office.opendocument.styles import Styles
from pincite.reading.office.runs import tidy, visible_text
from pincite.reading.writer import Run

# What is drawn under the text of a slide may come from anywhere, so white says nothing there.
_ON_SLIDE = Look(is_shaded=True)
_HIDDEN_SLIDE = Look(is_hidden=True, is_shaded=True)


def read_slides(reader: BodyReader, styles: Styles, presentation: Element) -> int:
    """Write every slide under its title, with its notes at its end; the number of slides."""
    slides = list(presentation.iterchildren(DRAW + "page"))
    for number, slide in enumerate(slides, start=1):
        reader.writer.page = number
        hidden = styles.is_hidden_page(slide.get(DRAW + "style-name", ""))
        _read_slide(reader, slide, _HIDDEN_SLIDE if hidden else _ON_SLIDE)
    return len(slides)


def _read_slide(reader: BodyReader, slide: Element, look: Look) -> None:
    # A heading is repeated above all that follows it, so none is made of a hidden slide's title.
    titles = [] if look.is_hidden else [shape for shape in slide if _is_title(shape)]
    title = visible_text(reader.runs_in(titles, look))
    if title.strip():
        reader.writer.heading(title, 1)
    reader.read((one for one in slide if look.is_hidden or not _is_title(one)), look)
    for notes in slide.iterchildren(PRESENTATION + "notes"):
        runs = tidy(reader.runs_in([notes], look))
        reader.writer.paragraph([Run("Notes: "), *runs] if runs else "")


def _is_title(shape: Element) -> bool:
    return shape.get(PRESENTATION + "class") == "title"
