"""Web pages → Content, and HTML inside of other files (e-books, mail) → a Writer.

Decode, parse, look the whole page over once, write what is content. UTF-8 that decodes without a
fault is UTF-8: no other encoding looks like it by chance, and pages that were saved or converted
keep the declaration they once had.

Menus, bars, banners and tables of contents are left out. Leaving out too much is worse than leaving
in too much. So a name alone ("sidebar") never decides: what goes by its name must also be mostly
links, and must not hold what is surely content.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime

from lxml import etree

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.encoding import decode
from pincite.reading.facts import iso_date, names, one_line, tags
from pincite.reading.source_file import SourceFile
from pincite.reading.web.html_blocks import BlockWriter, TableShape
from pincite.reading.web.html_tree import DEEPEST, Step, Tree, Visibility, parse_html, walk
from pincite.reading.writer import Writer
from pincite.records import Content, Metadata

_TOO_DEEP = f"is nested more than {DEEPEST:,} elements deep; what comes after was left out"

# What pages call encodings → what browsers take it for (https://encoding.spec.whatwg.org).
_LABELS = {
    **dict.fromkeys(("utf-8", "utf8", "unicode-1-1-utf-8"), "utf_8"),
    **dict.fromkeys(
        ("iso-8859-1", "iso8859-1", "latin1", "latin-1", "l1", "us-ascii", "ascii", "windows-1252"),
        "cp1252",
    ),
    **dict.fromkeys(("cp1252", "x-cp1252", "ansi_x3.4-1968", "iso_8859-1"), "cp1252"),
    **{f"windows-125{page}": f"cp125{page}" for page in (0, 1, 3, 4, 5, 6, 7, 8)},
    **{f"cp125{page}": f"cp125{page}" for page in (0, 1, 3, 4, 5, 6, 7, 8)},
    **{f"iso-8859-{part}": f"iso8859_{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{"latin2": "iso8859_2", "latin-2": "iso8859_2", "latin9": "iso8859_15"},
    **{"iso-8859-9": "cp1254", "latin5": "cp1254", "iso-8859-8-i": "iso8859_8"},
    **dict.fromkeys(("iso-8859-11", "tis-620", "windows-874"), "cp874"),
    **{"koi8-r": "koi8_r", "koi8-u": "koi8_u", "ibm866": "cp866", "cp866": "cp866"},
    **{"macintosh": "mac_roman", "x-mac-roman": "mac_roman", "x-mac-cyrillic": "mac_cyrillic"},
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j"), "cp932"),
    **{"euc-jp": "euc_jp", "x-euc-jp": "euc_jp", "iso-2022-jp": "iso2022_jp"},
    **dict.fromkeys(("gb2312", "gbk", "gb18030", "x-gbk", "gb_2312-80", "cp936"), "gb18030"),
    **{"big5": "big5hkscs", "big5-hkscs": "big5hkscs", "cp950": "big5hkscs"},
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987", "ksc5601", "windows-949", "cp949"), "cp949"),
}

_DECLARED_WITHIN = 8_192  # bytes; browsers look at 1,024, some pages begin with long comments
_DECLARATION = re.compile(
    rb"""<meta\s[^<>]{0,500}?charset\s{0,10}=\s{0,10}["']?\s{0,10}([\w.:-]{1,40})"""
    rb"""|^\s{0,100}<\?xml\s[^<>]{0,200}?encoding\s{0,10}=\s{0,10}["']([\w.:-]{1,40})""",
    re.IGNORECASE,
)
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_ESCAPE = b"\x1b$"  # what ISO-2022-JP begins a stretch of Japanese with; it is ASCII otherwise
_STRAY_NULS = 0.01  # of all bytes; with more it is UTF-16, or no text at all

_CONTENT_TAGS = frozenset(("main", "article"))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_LIKE_HEADINGS = _HEADINGS | {"summary", "dt", "legend"}
_LEAST_SHARE = 3  # the main part has at least one third of the page's text, or it is not the main
_LEAST_ARTICLE = 2  # an <article> may be a comment or a teaser: at least a half
_FURNITURE_AT_MOST = 10  # a tenth of the text must remain, or the furniture was the content

_NAVIGATION_ROLES = frozenset(("navigation", "search", "menu", "menubar", "toolbar", "tablist"))
_POPUP_ROLES = frozenset(("dialog", "alertdialog", "tooltip"))
_MARGIN_ROLES = frozenset(("banner", "contentinfo", "complementary"))
_MARGIN_TAGS = frozenset(("header", "footer", "aside"))
_LINK_WORDS = frozenset(
    (
        *(
            "nav",
            "navbar",
            "navbox",
            "navigation",
            "topnav",
            "subnav",
            "menu",
            "submenu",
            "sitemap",
        ),
        *("breadcrumb", "breadcrumbs", "sidebar", "toc", "tableofcontents", "contents", "pager"),
        *("pagination", "share", "sharing", "social", "related", "recommended", "recommendations"),
        *("footer", "header", "masthead", "topbar", "toolbar", "tabs", "tags", "skip", "widget"),
        *("popular", "trending", "promo", "catlinks", "interlanguage", "editsection", "headerlink"),
    )
)
_CONSENT_WORDS = frozenset(("cookie", "cookies", "consent", "gdpr", "ccpa", "privacy"))
_CONSENT_PLACES = frozenset(
    (
        *("banner", "notice", "bar", "popup", "modal", "message", "overlay", "dialog", "alert"),
        *("consent", "law", "disclaimer", "prompt", "manager", "settings", "preferences"),
    )
)
_CONSENT_TOOLS = frozenset(
    ("onetrust", "cookiebot", "cybotcookiebotdialog", "didomi", "usercentrics", "truste", "iubenda")
)
_SCREEN_READER_NAMES = frozenset(
    ("sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "skip-link", "skip-nav")
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_ANCHOR_SIGNS = frozenset(("¶", "#", "§", "🔗", "↑", "^"))
_SKIP_LINK = re.compile(r"(?:skip|jump) to\b", re.IGNORECASE)

_LONGEST_CONSENT = 5_000  # characters; more is a policy that somebody wants to read
_LONGEST_ASIDE = 150  # characters that only a screen reader speaks
_LONGEST_BUTTON = 30  # characters; what is longer may be a question that opens its answer

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


def read(file: SourceFile) -> Content:
    """Read a web page: its main content, without menus and the like."""
    writer = Writer()
    page = HtmlPage(parse_html(decode_html(file.data)), is_web_page=True)
    page.write_to(writer)
    return writer.content("html", title=page.facts.title, metadata=page.facts.metadata)


def write_html(data: bytes | str, writer: Writer, *, charset: str | None = None) -> HtmlFacts:
    """Write all of an HTML text that can be read, and return what it says about itself.

    For HTML inside of other files; nothing is taken for a menu here. An empty one writes nothing.
    """
    text = data if isinstance(data, str) else decode_html(data, charset)
    try:
        page = HtmlPage(parse_html(text))
    except FileEmpty:
        return HtmlFacts()
    page.write_to(writer)
    return page.facts


class HtmlPage:
    """A page that was looked over and can be written."""

    def __init__(self, tree: Tree, *, is_web_page: bool = False) -> None:
        self._tree = tree
        self._visibility = Visibility(tree.root)
        self._with_noscript = False
        self._found = self._surveyed(is_web_page=is_web_page)
        if not self._found.text:
            self._with_noscript = True
            self._found = self._surveyed(is_web_page=is_web_page)
        if tree.is_cut and not self._found.text:
            raise FileUnreadable(f"is nested more than {DEEPEST:,} elements deep")
        self.facts = _facts_of(tree.root, self._first_heading)
        if tree.is_cut:
            metadata = replace(self.facts.metadata, notes=(_TOO_DEEP,))
            self.facts = replace(self.facts, metadata=metadata)

    @property
    def text_length(self) -> int:
        """How many characters a reader sees."""
        return self._found.text

    @property
    def has_heading(self) -> bool:
        """Whether it has a heading of its own."""
        return self._found.has_heading

    def write_to(self, writer: Writer) -> None:
        """Write the content."""
        found, body = self._found, self._tree.body
        part = _main_part(found, body)
        if self._title_stands_outside(part):
            writer.heading(self.facts.title or "", 1)
        left_out = set() if found.furniture_is_content else found.furniture
        steps = walk(part, self._visibility, left_out, with_noscript=self._with_noscript)
        BlockWriter(writer, found.data).write(steps)

    def _title_stands_outside(self, part: etree._Element) -> bool:
        """Whether the main part begins below the heading that is the page's title."""
        h1 = self._found.first_h1
        if h1 is None or part is self._tree.body or self._first_heading != self.facts.title:
            return False
        return part not in h1.iterancestors()

    @property
    def _first_heading(self) -> str | None:
        h1 = self._found.first_h1
        return None if h1 is None else one_line("".join(h1.itertext()))

    def _surveyed(self, *, is_web_page: bool) -> Survey:
        # Walk over the body once, and count on the way up. Only web pages have furniture.
        surveyor = _Surveyor(is_page=is_web_page)
        for step in walk(self._tree.body, self._visibility, with_noscript=self._with_noscript):
            surveyor.take(step)
        return surveyor.found


for _codec in set(_LABELS.values()):
    codecs.lookup(_codec)  # loads its module now: where files are read, nothing can be opened


def decode_html(data: bytes, charset: str | None = None) -> str:
    """The text of a page; `charset` is what the outside (a mail's header) says of it.

    FileUnreadable where the data is no text.
    """
    found = None if charset else _DECLARATION.search(data[:_DECLARED_WITHIN])
    if found:
        charset = (found[1] or found[2]).decode("ascii", "replace")
    return decode_labelled(data, charset)


def decode_labelled(data: bytes, label: str | None) -> str:
    """The text of data that is said to be in the encoding of that name, if it can be."""
    if data.startswith(_MARKS):
        return decode(data)
    if b"\0" in data:
        if data.count(b"\0") > _STRAY_NULS * len(data):
            return decode(data)
        data = data.replace(b"\0", b"")
    codec = _LABELS.get((label or "").strip().lower(), "utf_8")
    candidates = (codec, "utf_8") if codec == "iso2022_jp" and _ESCAPE in data else ("utf_8", codec)
    for candidate in candidates:
        try:
            return data.decode(candidate)
        except UnicodeDecodeError:
            continue
    return decode(data)


@dataclass(slots=True)
class Survey:
    """What was found on a page."""

    furniture: set[etree._Element] = field(default_factory=set)
    data: set[etree._Element] = field(default_factory=set)  # tables, and rows of other tables
    mains: list[tuple[etree._Element, int]] = field(default_factory=list)  # characters kept
    articles: list[tuple[etree._Element, int]] = field(default_factory=list)
    first_h1: etree._Element | None = None
    has_heading: bool = False
    text: int = 0
    kept: int = 0

    @property
    def furniture_is_content(self) -> bool:
        """Whether next to nothing is left without what looks like furniture."""
        return self.kept * _FURNITURE_AT_MOST < self.text


def _main_part(found: Survey, body: etree._Element) -> etree._Element:
    """The element that holds the content; the body where none surely does."""
    if found.furniture_is_content:
        return body
    for candidates, share in ((found.mains, _LEAST_SHARE), (found.articles, _LEAST_ARTICLE)):
        if len(candidates) == 1:
            element, kept = candidates[0]
            if kept * share >= found.kept:
                return element
    return body


class _Surveyor:
    def __init__(self, *, is_page: bool) -> None:
        self.found = Survey()
        self._is_page = is_page
        self._held = [Held()]
        self._tables: list[TableShape] = []
        self._links = 0

    def take(self, step: Step) -> None:
        """One step of the walk."""
        if step.kind == "text" and step.look.omitted is None:
            length = len(step.text.strip())
            held = self._held[-1]
            held.text += length
            held.kept += length
            if self._tables:
                self._tables[-1].text += length
            if self._links:
                held.links += length
        elif step.kind == "text":
            return
        elif step.kind == "start":
            tag, outer = step.element.tag, self._held[-1]
            is_content = tag in _CONTENT_TAGS or step.element.get("role") in ("main", "article")
            self._held.append(
                Held(
                    has_content=is_content or tag == "h1",
                    has_navigation=tag == "nav",
                    in_content=outer.in_content or is_content,
                    in_heading=outer.in_heading or tag in _LIKE_HEADINGS,
                )
            )
            if tag == "a":
                self._links += 1
            elif tag == "h1" and self.found.first_h1 is None:
                self.found.first_h1 = step.element
            elif tag == "table":
                self._tables.append(TableShape(step.element))
            if self._tables:
                self._tables[-1].open(step.element)
        else:
            self._close(step.element)

    def _close(self, element: etree._Element) -> None:
        held = self._held.pop()
        self.found.has_heading |= element.tag in _HEADINGS and held.text > 0
        if element.tag == "a":
            self._links -= 1
        elif element.tag == "table":
            shape = self._tables.pop()
            self.found.data.update([element] if shape.holds_data() else shape.rows)
            if self._tables:
                self._tables[-1].close_inner(shape)
        elif element.tag == "tr" and self._tables:
            self._tables[-1].close_row(element)
        if self._is_page and _is_furniture(element, held):
            self.found.furniture.add(element)
            held.kept = 0
        elif held.in_content:
            if element.tag == "main" or element.get("role") == "main":
                self.found.mains.append((element, held.kept))
            elif element.tag == "article":
                self.found.articles.append((element, held.kept))
        outer = self._held[-1]
        outer.text += held.text
        outer.links += held.links
        outer.kept += held.kept
        outer.has_content |= held.has_content
        outer.has_navigation |= held.has_navigation
        self.found.text, self.found.kept = outer.text, outer.kept


@dataclass(slots=True)
class Held:
    """What an element was found to hold, counted in characters."""

    text: int = 0
    links: int = 0  # of the text
    kept: int = 0  # of the text, what is no furniture
    has_navigation: bool = False
    has_content: bool = False  # a main part, an article, or the heading of the page
    in_content: bool = False
    in_heading: bool = False

    @property
    def is_mostly_links(self) -> bool:
        """Whether more than half of it leads elsewhere."""
        return self.links * 2 > self.text


def _is_furniture(element: etree._Element, held: Held) -> bool:
    """Whether an element of a web page, which holds this much, is none of its content."""
    tag, role = str(element.tag), element.get("role", "")
    if tag == "button" or role == "button":
        return held.text <= _LONGEST_BUTTON and not held.in_heading
    if held.has_content or role == "note":
        return False
    if tag == "nav" or role in _NAVIGATION_ROLES or role in _POPUP_ROLES:
        return True
    if element.get("aria-hidden", "").strip().lower() == "true":
        return True
    if tag in _MARGIN_TAGS or role in _MARGIN_ROLES:
        return _is_margin(tag, role, held)
    return bool(element.attrib) and _goes_by_its_name(element, held)


def _is_margin(tag: str, role: str, held: Held) -> bool:
    """Notes and quotes stand in <aside> too, but inside of an article, and are not mere links."""
    if not held.in_content and (tag == "aside" or role == "complementary"):
        return True
    return held.is_mostly_links or (held.has_navigation and not held.in_content)


def _goes_by_its_name(element: etree._Element, held: Held) -> bool:
    name = f"{element.get('class', '')} {element.get('id', '')}"
    if element.tag == "a" and _is_link_to_itself(element):
        return True
    if not _SCREEN_READER_NAMES.isdisjoint(name.lower().split()):
        return held.text <= _LONGEST_ASIDE and not held.in_heading
    words = {word.lower() for word in _WORD.findall(name[:1_000])}
    if held.is_mostly_links and not words.isdisjoint(_LINK_WORDS):
        return True
    is_consent = not words.isdisjoint(_CONSENT_TOOLS) or not (
        words.isdisjoint(_CONSENT_WORDS) or words.isdisjoint(_CONSENT_PLACES)
    )
    return is_consent and held.text <= _LONGEST_CONSENT


def _is_link_to_itself(link: etree._Element) -> bool:
    """Whether a link leads to another place of the page, and has nothing to say."""
    text = (link.text or "").strip()
    return link.get("href", "").startswith("#") and (
        text in _ANCHOR_SIGNS or _SKIP_LINK.match(text) is not None
    )


@dataclass(frozen=True, slots=True)
class HtmlFacts:
    """What a page says about itself, and what of it could not be read."""

    title: str | None = None
    metadata: Metadata = field(default_factory=Metadata)


def _facts_of(root: etree._Element, first_heading: str | None) -> HtmlFacts:
    """What the page's head says, then its linked data, then its text."""
    # The page's <meta> by their names.
    said: dict[str, list[str]] = {}
    for meta in root.iter("meta"):
        name = meta.get("name") or meta.get("property") or meta.get("itemprop") or ""
        content = (meta.get("content") or "").strip()
        if name and content:
            said.setdefault(name.strip().lower(), []).append(content)
    linked = _linked_data(root)
    xml_lang = root.get("{http://www.w3.org/XML/1998/namespace}lang")
    values = [root.get("lang"), root.get("xml:lang"), xml_lang]
    body = root.find("body")
    values += [body.get("lang")] if body is not None else []
    values += [*said.get("content-language", ()), *said.get("dc.language", ())]
    stripped = (value.strip() for value in values if value)
    found = (value for value in stripped if _LANGUAGE.fullmatch(value))
    language = next(found, None)
    authors = _all(said, _AUTHORS)
    named = names([one for one in authors if not one.startswith(("http:", "https:", "//"))])
    day = _first_date(_all(said, _DATES)) or linked.metadata.date
    metadata = Metadata(
        tags=tags([one for each in _all(said, _TAGS) for one in each.split(",")]),
        author=named or linked.metadata.author,
        date=day or _only_time(root),
        language=language.replace("_", "-") if language else None,
        modified=_first_date(_all(said, _CHANGES)) or linked.metadata.modified,
    )
    return HtmlFacts(_title(root, said, first_heading) or linked.title, metadata)


def when(value: str) -> str | None:
    """A date in ISO 8601, as far as it can be told from how pages and mails write it."""
    if date := iso_date(value):
        return date
    try:
        return parsedate_to_datetime(value[:200]).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _all(said: Mapping[str, list[str]], keys: Iterable[str]) -> list[str]:
    """What is said under the first of the names that is there."""
    return next((said[name] for name in keys if name in said), [])


def _first_date(values: Iterable[str]) -> str | None:
    return next((date for value in values if (date := when(value))), None)


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
            metadata = Metadata(
                author=names(record.get("author")),
                date=_linked_date(record.get("datePublished")),
                modified=_linked_date(record.get("dateModified")),
            )
            title = one_line(record.get("headline")) or one_line(record.get("name"))
            return HtmlFacts(title, metadata)
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
