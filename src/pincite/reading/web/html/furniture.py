"""What on a web page is not its content: menus, bars, banners, tables of contents.

Leaving out too much is worse than leaving in too much. So a name alone ("sidebar") never decides:
what goes by its name must also be mostly links, and must not hold what is surely content.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import etree

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


def is_furniture(element: etree._Element, held: Held) -> bool:
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
