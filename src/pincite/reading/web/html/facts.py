"""What a page says about itself: title, author, dates, language, tags."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime

from lxml import etree

from pincite.reading.facts import iso_date, names, one_line, tags
from pincite.records import Metadata

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}")
_SEPARATOR = r"\s*[|\-–—·•»«:/]{1,2}\s+"
_MOST_LINKED_DATA = 500_000  # characters of a JSON-LD script
_MOST_RECORDS = 50
_ARTICLE = re.compile(r"Article|Post|Page|Report|Book|Recipe|HowTo|Review")

_AUTHORS = ("author", "article:author", "dc.creator", "dcterms.creator", "citation_author")
_DATES = (
    *("article:published_time", "dc.date.issued", "dcterms.issued", "dcterms.created", "dc.date"),
    *("dcterms.date", "citation_publication_date", "citation_date", "datepublished", "date"),
    *("pubdate", "publish-date", "og:published_time", "dc.date.created"),
)
_CHANGES = (
    *("article:modified_time", "og:updated_time", "dcterms.modified", "dc.date.modified"),
    *("datemodified", "last-modified", "revised"),
)
_TAGS = ("keywords", "article:tag", "news_keywords", "dc.subject")


@dataclass(frozen=True, slots=True)
class HtmlFacts:
    """What a page says about itself, and what of it could not be read."""

    title: str | None = None
    author: str | None = None
    date: str | None = None
    modified: str | None = None
    language: str | None = None
    tags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def metadata(self) -> Metadata:
        """As documents keep it."""
        return Metadata(
            tags=self.tags,
            author=self.author,
            date=self.date,
            language=self.language,
            modified=self.modified,
            notes=self.notes,
        )


def facts_of(root: etree._Element, first_heading: str | None) -> HtmlFacts:
    """What the page's head says, then its linked data, then its text."""
    said = _said(root)
    linked = _linked_data(root)
    facts = HtmlFacts(
        title=_title(root, said, first_heading),
        author=names([one for one in _all(said, _AUTHORS) if not _is_address(one)]),
        date=_first_date(_all(said, _DATES)),
        modified=_first_date(_all(said, _CHANGES)),
        language=_language(root, said),
        tags=tags([one for each in _all(said, _TAGS) for one in each.split(",")]),
    )
    return replace(
        facts,
        title=facts.title or linked.title,
        author=facts.author or linked.author,
        date=facts.date or linked.date or _only_time(root),
        modified=facts.modified or linked.modified,
    )


def when(value: str) -> str | None:
    """A date in ISO 8601, as far as it can be told from how pages and mails write it."""
    if date := iso_date(value):
        return date
    try:
        return parsedate_to_datetime(value[:200]).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _said(root: etree._Element) -> dict[str, list[str]]:
    """The page's <meta> by their names."""
    said: dict[str, list[str]] = {}
    for meta in root.iter("meta"):
        name = meta.get("name") or meta.get("property") or meta.get("itemprop") or ""
        content = (meta.get("content") or "").strip()
        if name and content:
            said.setdefault(name.strip().lower(), []).append(content)
    return said


def _all(said: Mapping[str, list[str]], keys: Iterable[str]) -> list[str]:
    """What is said under the first of the names that is there."""
    return next((said[name] for name in keys if name in said), [])


def _first_date(values: Iterable[str]) -> str | None:
    return next((date for value in values if (date := when(value))), None)


def _is_address(author: str) -> bool:
    return author.startswith(("http:", "https:", "//"))


def _title(root: etree._Element, said: Mapping[str, list[str]], heading: str | None) -> str | None:
    """The <title> without the name of the site, where another place says what the title is."""
    places = ("head/title", "title", "body/title")  # pictures inside of a page have titles too
    texts = (root.findtext(place) for place in places)
    whole = next((line for one in texts if (line := one_line(one))), None)
    shared = one_line(next(iter(said.get("og:title", ())), None))
    if whole is None:
        return shared or heading
    for part in (shared, heading):
        if part and _is_part(part, whole):
            return part
    site = one_line(next(iter(said.get("og:site_name", ())), None))
    if site == whole and heading:
        return heading
    if site and (found := re.fullmatch(rf"(.+?){_SEPARATOR}{re.escape(site)}", whole)):
        return found[1]
    return whole


def _is_part(part: str, whole: str) -> bool:
    """Whether a title is the part and the name of a site, on either side."""
    name = re.escape(part)
    return bool(
        re.match(rf"{name}{_SEPARATOR}\S", whole, re.IGNORECASE)
        or re.search(rf"\S{_SEPARATOR}{name}$", whole, re.IGNORECASE)
    )


def _language(root: etree._Element, said: Mapping[str, list[str]]) -> str | None:
    xml_lang = root.get("{http://www.w3.org/XML/1998/namespace}lang")
    values = [root.get("lang"), root.get("xml:lang"), xml_lang]
    body = root.find("body")
    values += [body.get("lang")] if body is not None else []
    values += [*said.get("content-language", ()), *said.get("dc.language", ())]
    stripped = (value.strip() for value in values if value)
    found = (value for value in stripped if _LANGUAGE.fullmatch(value))
    language = next(found, None)
    return language.replace("_", "-") if language else None


def _only_time(root: etree._Element) -> str | None:
    """The date of the <time> that says it is the page's, or of the only one there is."""
    dates: set[str] = set()
    for time in root.iter("time"):
        date = when(time.get("datetime") or "")
        if date and ("published" in time.get("itemprop", "").lower() or "pubdate" in time.attrib):
            return date
        if date:
            dates.add(date)
    return dates.pop() if len(dates) == 1 else None


def _linked_data(root: etree._Element) -> HtmlFacts:
    """What the first article in the page's JSON-LD says."""
    for script in root.iter("script"):
        text = script.text or ""
        if script.get("type") != "application/ld+json" or len(text) > _MOST_LINKED_DATA:
            continue
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            continue
        for record in _records(data):
            return HtmlFacts(
                title=one_line(record.get("headline")) or one_line(record.get("name")),
                author=names(record.get("author")),
                date=_linked_date(record.get("datePublished")),
                modified=_linked_date(record.get("dateModified")),
            )
    return HtmlFacts()


def _records(data: object) -> Iterator[Mapping[str, object]]:
    """The records of articles in linked data: it may be one, or several, or a graph of them."""
    several = data if isinstance(data, list) else [data]
    for one in several[:_MOST_RECORDS]:
        if not isinstance(one, Mapping):
            continue
        graph = one.get("@graph")
        for record in [one, *(graph[:_MOST_RECORDS] if isinstance(graph, list) else [])]:
            if isinstance(record, Mapping) and _ARTICLE.search(str(record.get("@type"))[:200]):
                yield record


def _linked_date(value: object) -> str | None:
    return when(value) if isinstance(value, str) else None
