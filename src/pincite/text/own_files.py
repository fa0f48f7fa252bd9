"""Files that pincite wrote itself: proof of answers, and so never documents."""

from __future__ import annotations

import re

LONGEST_HEAD = 1 << 16  # bytes that are looked at

_RECEIPT = re.compile(rb'\A\s*\{"claims":\[')
_FORMAT = b'"format":"pincite-receipt"'
_COPY = re.compile(rb"\A\*\*Question:\*\* ")
_FOOTNOTE = re.compile(rb"\[chunk: [0-9a-f]{40}\] \(characters ")


def is_own_file(data: bytes) -> bool:
    """Whether it is a receipt, or Markdown of `ask --copy`.

    Indexed, an answer would be evidence for itself.
    """
    head = data[:LONGEST_HEAD]
    if _RECEIPT.match(head):
        return _FORMAT in data
    return bool(_COPY.match(head) and _FOOTNOTE.search(data))
