"""What a PDF says about itself: title, author, dates, keywords, language."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime, timedelta, timezone

from pincite.reading.pdf.pdfium import Handle, raw, utf16
from pincite.reading.source_file import SourceFile
from pincite.records import Metadata

_LONGEST = 300  # characters of a title or an author
_MOST_TAGS = 30
_DATE = re.compile(
    r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([Zz+-])(\d\d)?'?(\d\d)?'?)?"
)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")
# What programs write for want of a title: their own name, the file's, or that there is none.
_NO_TITLE = re.compile(
    r"(?:microsoft|untitled\b|slide \d).*|\(?anonymous\)?|unknown|unnamed|title|no title|model"
    r"|document ?\d*|(?:powerpoint )?presentation ?\d*"
    r"|.*\.(?:docx?|pptx?|xlsx?|pdf|tex|dvi|indd|qxd|rtf|odt|html?)"
    r"|[^\s_]*_\S*|[\W\d_]*",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"\(?anonymous\)?|unknown|user|admin(?:istrator)?|root|owner|author|python-docx|[\W\d_]*",
    re.IGNORECASE,
)
# XMP, as it stands in the file: a packet is seldom compressed, so that anybody may find it.
_XMP = {
    "Title": re.compile(rb"<dc:title>\s*<rdf:Alt>\s*<rdf:li[^>]{0,100}>([^<]{1,600})<"),
    "Author": re.compile(rb"<dc:creator>\s*<rdf:Seq>\s*<rdf:li[^>]{0,100}>([^<]{1,600})<"),
}


def about(document: Handle, file: SourceFile, *, pages: int, notes: tuple[str, ...]) -> Metadata:
    """The file's own account of itself, with what could not be read of it."""
    author = _property(document, file, "Author")
    return Metadata(
        tags=_tags(_text(document, "Keywords")),
        author=None if _NOBODY.fullmatch(author) else author,
        date=date_of(_text(document, "CreationDate")),
        language=_language(document),
        modified=date_of(_text(document, "ModDate")),
        pages=pages,
        notes=notes,
    )


def own_title(document: Handle, file: SourceFile) -> str | None:
    """The title in the file's properties, if somebody gave it one."""
    title = _property(document, file, "Title")
    name = file.path.rpartition("/")[2].rpartition(".")[0]
    return None if _NO_TITLE.fullmatch(title) or name.endswith(title) else title


def date_of(written: str) -> str | None:
    """A date as PDFs write it (`D:20240131120000+01'00'`) in ISO 8601; None if it is none."""
    found = _DATE.match(written)
    if not found:
        return None
    known = [int(part) for part in found.groups()[:6] if part]
    year, month, day, hour, minute, second = [*known, *(0, 1, 1, 0, 0, 0)[len(known) :]]
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    if len(known) <= 3:
        return moment.date().isoformat()[: (4, 7, 10)[len(known) - 1]]
    return _with_zone(moment, *found.groups()[6:])


def _with_zone(moment: datetime, sign: str | None, hours: str | None, minutes: str | None) -> str:
    if sign is None:
        return moment.replace(tzinfo=None).isoformat()
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    if sign in "Zz" or offset >= timedelta(days=1):
        offset = timedelta(0)
    return moment.replace(tzinfo=timezone(-offset if sign == "-" else offset)).isoformat()


def _property(document: Handle, file: SourceFile, key: str) -> str:
    text = _text(document, key)
    if not text and (found := _XMP[key].search(file.data)):
        text = " ".join(html.unescape(found[1].decode("utf-8", "replace")).split())
    return text[:_LONGEST]


def _text(document: Handle, key: str) -> str:
    text = utf16(raw.FPDF_GetMetaText, document, key.encode() + b"\0")
    return " ".join(text.replace("\0", " ").split())


def _tags(keywords: str) -> tuple[str, ...]:
    tags = dict.fromkeys(part.strip()[:100] for part in re.split("[,;]", keywords))
    return tuple(tag for tag in tags if tag)[:_MOST_TAGS]


def _language(document: Handle) -> str | None:
    """The language in its usual spelling: `pt-BR`, `zh-Hans`."""
    written = utf16(raw.FPDFCatalog_GetLanguage, document).strip()
    if not _LANGUAGE.fullmatch(written):
        return None
    language, *parts = written.split("-")
    spelled = (part.upper() if len(part) == 2 else part.capitalize() for part in parts)
    return "-".join((language.lower(), *spelled))
