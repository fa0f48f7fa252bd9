"""Files that pincite wrote itself: proof of answers, and so never documents."""

from __future__ import annotations

import re

_RECEIPT = re.compile(rb'\A\s*\{"claims":\[')
_FORMAT = b'"format":"pincite-receipt"'
# What the second line of such a file begins with: an artifact, an abstention that cites nothing,
# what a language model said without documents.
MADE_BY = "*Made by pincite from the documents cited below.*"
NO_ANSWER = "*No answer was found in the documents.*"
NO_DOCUMENTS = "*Not from the documents: written by "
_MARKDOWN = re.compile(
    rb"\A(?:\xef\xbb\xbf)?(?:\*\*Question:\*\* |# [^\n]*\s+%b)" % re.escape(MADE_BY.encode())
)
# In a conversation that was saved these may stand further down.
_MARK = re.compile(
    rb"\[chunk: [0-9a-f]{40}\] \(characters |^(?:%b)"
    % b"|".join(re.escape(one.encode()) for one in (MADE_BY, NO_ANSWER, NO_DOCUMENTS)),
    re.MULTILINE,
)


def is_receipt(data: bytes) -> bool:
    """Whether it is what `ask --receipt` writes."""
    return _RECEIPT.match(data) is not None and _FORMAT in data


def is_own_file(data: bytes) -> bool:
    """Whether it is a receipt, or Markdown of `ask --copy`, `make` or `/save` in a chat.

    Indexed, an answer would be evidence for itself.
    """
    return is_receipt(data) or bool(_MARKDOWN.match(data) and _MARK.search(data))
