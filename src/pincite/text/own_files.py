"""Files that pincite wrote itself: proof of answers, and so never documents."""

from __future__ import annotations

import re

_RECEIPT = re.compile(rb'\A\s*\{"claims":\[')
_FORMAT = b'"format":"pincite-receipt"'
MADE_BY = "*Made by pincite from the documents cited below.*"  # the second line of an artifact
_MARKDOWN = re.compile(
    rb"\A(?:\xef\xbb\xbf)?(?:\*\*Question:\*\* |# [^\n]*\s+%b)" % re.escape(MADE_BY.encode())
)
_FOOTNOTE = re.compile(rb"\[chunk: [0-9a-f]{40}\] \(characters ")


def is_receipt(data: bytes) -> bool:
    """Whether it is what `ask --receipt` writes."""
    return _RECEIPT.match(data) is not None and _FORMAT in data


def is_own_file(data: bytes) -> bool:
    """Whether it is a receipt, or Markdown of `ask --copy` or `make`.

    Indexed, an answer would be evidence for itself.
    """
    return is_receipt(data) or bool(_MARKDOWN.match(data) and _FOOTNOTE.search(data))
