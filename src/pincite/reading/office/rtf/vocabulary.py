"""The commands of RTF, by what they mean for a reader of the text."""

from __future__ import annotations

from pincite.reading.office.rtf.groups import Register

SAID = {
    **{"tab": "\t", "line": "\n", "lbr": "\n", "page": "\n", "column": "\n", "emdash": "—"},
    **{"endash": "–", "bullet": "•", "emspace": " ", "enspace": " ", "qmspace": " "},
    **{"lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”"},
}
SAID_BY_SYMBOL = {"~": "\u00a0", "_": "-", "{": "{", "}": "}", "\\": "\\", "\t": "\t"}
ENCODINGS = {"ansi": "cp1252", "mac": "mac_roman", "pc": "cp437", "pca": "cp850"}

# Destinations without text of the document. Others that begin with \* are skipped unless known.
SKIPPED = frozenset(
    (
        *("pict", "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr"),
        *("footerf", "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn", "fldinst"),
        *("nonshppict", "nonesttables", "shprslt", "objdata", "objclass", "sp", "xe", "tc", "txe"),
        *("rxe", "bkmkstart", "bkmkend", "filetbl", "private", "pntxta", "pntxtb", "template"),
        *("upr", "listtable", "listoverridetable", "atnid", "atnref", "atndate"),
    )
)
ENTERED = frozenset(("shpinst", "nesttableprops"))  # though they begin with \*
REGISTERS = {
    "fonttbl": Register.FONTS,
    "colortbl": Register.COLOURS,
    "stylesheet": Register.STYLES,
    "revtbl": Register.AUTHORS,
    "creatim": Register.CREATED,
    "revtim": Register.MODIFIED,
}
PROPERTIES = ("title", "author", "keywords")
