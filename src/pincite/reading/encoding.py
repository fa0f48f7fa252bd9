"""Plain text in any encoding → str, verbatim; anything else is refused by name."""

from __future__ import annotations

import codecs
import re
from collections import Counter

from charset_normalizer import CharsetMatch, from_bytes

from pincite.errors import FileEmpty, FileUnreadable

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDE_ENCODINGS = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")

# No text begins like these.
_SIGNATURES = (
    (re.compile(rb"%PDF-\d\.\d"), "a PDF"),
    (re.compile(rb"PK(?:\x03\x04|\x05\x06|\x07\x08)"), "a ZIP archive or an Office document"),
    (re.compile(rb"\x89PNG\r\n"), "a PNG image"),
    (re.compile(rb"\xff\xd8\xff"), "a JPEG image"),
    (re.compile(rb"II\*\x00|MM\x00\*"), "a TIFF image"),
    (re.compile(rb"\x7fELF"), "a program (ELF)"),
    (re.compile(rb"[\xfe\xca][\xed\xfe][\xfa\xba][\xce\xcf\xbe]"), "a program"),
    (re.compile(rb"[\xce\xcf]\xfa\xed\xfe"), "a program (Mach-O)"),
    (re.compile(rb"\x00asm"), "a WebAssembly program"),
    (re.compile(rb"\x1f\x8b"), "a gzip archive"),
    (re.compile(rb"BZh\d(?:1AY&SY|\x17rE8P\x90)"), "a bzip2 archive"),
    (re.compile(rb"\xfd7zXZ\x00"), "an xz archive"),
    (re.compile(rb"\x28\xb5\x2f\xfd"), "a Zstandard archive"),
    (re.compile(rb"7z\xbc\xaf\x27\x1c"), "a 7z archive"),
    (re.compile(rb"Rar!\x1a\x07"), "a RAR archive"),
    (re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "an old Office document"),
    (re.compile(rb"SQLite format 3\x00"), "a SQLite database"),
    (re.compile(rb"\x1a\x45\xdf\xa3"), "a Matroska or WebM video"),
)
# A note may well begin with "MZ" or "GIF89a", but then it holds no NUL.
_SIGNATURES_WITH_NUL = (
    (re.compile(rb"MZ"), "a Windows program"),
    (re.compile(rb"GIF8[79]a"), "a GIF image"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "a WebP image"),
    (re.compile(rb"RIFF....WAVE", re.DOTALL), "a WAV recording"),
    (re.compile(rb"RIFF....AVI ", re.DOTALL), "an AVI video"),
    (re.compile(rb"BM.{4}\x00{4}", re.DOTALL), "a BMP image"),
    (re.compile(rb"....ftyp", re.DOTALL), "an MP4 video or recording"),
    (re.compile(rb"ID3"), "an MP3 recording"),
    (re.compile(rb"OggS"), "an Ogg recording"),
    (re.compile(rb"fLaC"), "a FLAC recording"),
    (re.compile(rb"wOF[F2]"), "a web font"),
    (re.compile(rb".{257}ustar", re.DOTALL), "a tar archive"),
)

# Tab, line feed, form feed, carriage return and escape (coloured logs) do occur in texts.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")
_CONTROL_SHARE = 0.05
_NOT_PLAIN = re.compile(rb"[^\0\t\r\n -~]")
# Neither a blank nor one of the characters without width.
_VISIBLE = re.compile(r"[^\s\u00ad\u180e\u200b-\u200f\u2060\ufeff]")

# What people's files are really in, the likeliest first. Given every encoding there is, a guess
# takes Polish for Greenlandic.
_IN_USE = (
    *("cp1252", "cp1250", "iso8859_2", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256"),
    *("cp1257", "cp874", "cp932", "euc_jp", "iso2022_jp", "gb18030", "big5", "cp949"),
)
# Letters beyond a to z of French, German, Spanish, Portuguese, Italian, the Nordic languages,
# Icelandic and Dutch; then of Polish, Czech with Slovak, Hungarian, Romanian, Croatian, Turkish,
# Lithuanian, Latvian and Estonian.
_WESTERN_ALPHABETS = (
    *("àâæçéèêëîïôœùûüÿ", "äöüß", "áéíñóúü", "àáâãçéêíóôõúü", "àèéìíòóùú", "åäöæøé", "áðéíóúýþæö"),
    "áèéëíïóöü",
)
_ALPHABETS = (
    *_WESTERN_ALPHABETS,
    *("ąćęłńóśźż", "áäčďéěíĺľňóôŕřšťúůýž", "áéíóöőúüű", "ăâîșțşţ", "čćđšž", "çğıiöşüâîû"),
    *("ąčęėįšųūž", "āčēģīķļņšūž", "äöõüšž"),
)
_MANY_WESTERN = frozenset("".join(_WESTERN_ALPHABETS))
_MANY_WESTERN_COUNT = 0.8  # each of its letters; a single language that has all explains more
_BEYOND_LATIN = "\u0250"
_TOLERANCE = 0.9  # of what charset-normalizer calls chaos; it finds much in Japanese with code
# The second byte of a Chinese or Japanese character can be an ASCII letter or digit.
_FOREIGN_WORD = re.compile(rb"[A-Za-z]{0,30}[\x80-\xff][\x30-\xff]*")
_SAMPLE_SIZE = 32_768  # enough to tell encodings apart; a guess over 20 MB would take minutes
# With fewer letters than this a guess is a lottery.
_FEW_FOREIGN_BYTES = 12


def decode(data: bytes) -> str:
    """The text exactly as it stands in the file, without a byte order mark.

    Line ends are kept. Bytes that mean nothing become U+FFFD, so the text never holds a lone
    surrogate. Binary content is FileUnreadable, and so is text with NULs in it.
    """
    if kind := _named(_SIGNATURES, data):
        raise FileUnreadable(f"is {kind}, not text")
    text = _decode_marked(data)
    if text is None:
        text = _decode_wide(data) if b"\0" in data else _decode_narrow(data)
    sample = text[:_SAMPLE_SIZE]
    if "\0" in text or len(_CONTROL.findall(sample)) > _CONTROL_SHARE * len(sample):
        raise FileUnreadable("is binary, not text")
    return text


def decode_filled(data: bytes) -> str:
    """As decode, but a text in which there is nothing to read is FileUnreadable."""
    text = decode(data)
    if not _VISIBLE.search(text):
        raise FileEmpty("is empty")
    return text


def _named(signatures: tuple[tuple[re.Pattern[bytes], str], ...], data: bytes) -> str | None:
    return next((kind for pattern, kind in signatures if pattern.match(data)), None)


def _decode_marked(data: bytes) -> str | None:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    return None


def _decode_wide(data: bytes) -> str:
    """Data with NULs: UTF-16 or UTF-32 without a mark, or no text at all."""
    texts = [text for encoding in _WIDE_ENCODINGS if (text := _strictly(data, encoding))]
    best = max(texts, key=_plausibility, default="\0")
    if _plausibility(best) <= 1 or _is_narrow(data):
        kind = _named(_SIGNATURES_WITH_NUL, data) or "binary"
        raise FileUnreadable(f"is {kind}, not text")
    return best


def _is_narrow(data: bytes) -> bool:
    """Whether it is plain text with some NULs in it, which in UTF-16 would pass for Chinese."""
    sample = data[:_SAMPLE_SIZE]
    return sample.count(0) * 4 < len(sample) and not _NOT_PLAIN.search(sample)


def _plausibility(text: str) -> float:
    """From 0 to 2; above 1 it is text.

    In the wrong byte order blanks and line ends do not print and letters become Chinese, so both
    what prints and what is ASCII speak for an order. Text with NULs has some ASCII in it.
    """
    sample = text[:_SAMPLE_SIZE]
    if "\0" in sample:
        return 0
    ascii_count = sum(character.isascii() for character in sample)
    printable = sum(character.isprintable() or character in "\t\r\n" for character in sample)
    return (printable + ascii_count) / len(sample) if printable >= 0.95 * len(sample) else 0


def _decode_narrow(data: bytes) -> str:
    text = _strictly(data, "utf-8")
    if text is not None:
        return text
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    foreign = len(text) - len(text.encode("ascii", "ignore")) - broken
    # Other encodings hardly ever look like UTF-8 by chance: damaged UTF-8 mostly still does.
    if foreign >= broken:
        return text
    return data.decode(_guess(data), "replace")


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _guess(data: bytes) -> str:
    # The words that are not pure ASCII, up to the size of a sample: only they tell anything.
    words = bytearray()
    for word in _FOREIGN_WORD.finditer(data):
        words += word.group() + b" "
        if len(words) >= _SAMPLE_SIZE:
            break
    sample = bytes(words[:_SAMPLE_SIZE])
    if len(sample) - len(sample.decode("ascii", "ignore")) < _FEW_FOREIGN_BYTES:
        return _IN_USE[0]
    guesses = from_bytes(sample, cp_isolation=list(_IN_USE), threshold=_TOLERANCE)
    # Neighbours such as Windows-1250 and 1252 often tie: then it is the likelier one in general.
    ranked = sorted(guesses, key=lambda guess: (-_merit(guess), _IN_USE.index(guess.encoding)))
    return ranked[0].encoding if ranked else _IN_USE[0]


def _merit(guess: CharsetMatch) -> float:
    """How much it reads like a language, less the share of signs and letters that do not fit."""
    foreign = [character for character in str(guess) if not character.isascii()]
    signs = sum(character < "\u2000" and not character.isalpha() for character in foreign)
    # How many Latin letters there are beyond those of the language that explains most of them.
    letters = Counter(one.lower()[0] for one in foreign if one < _BEYOND_LATIN and one.isalpha())
    known = max(sum(letters[letter] for letter in alphabet) for alphabet in _ALPHABETS)
    western = sum(letters[letter] for letter in _MANY_WESTERN)
    misfits = signs + (letters.total() - max(known, _MANY_WESTERN_COUNT * western))
    return round(guess.coherence - guess.chaos - misfits / max(1, len(foreign)), 2)
