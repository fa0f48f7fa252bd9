import codecs
import random

import pytest
from hypothesis import given, strategies as st

from pincite.errors import FileUnreadable
from pincite.reading.encoding import decode, decode_filled

GERMAN = "„Schöne Grüße aus Köln“, schrieb er – und fügte hinzu: Das Café öffnet übermorgen.\n"
POLISH = "Zażółć gęślą jaźń. Każda nieszczęśliwa rodzina jest nieszczęśliwa na swój sposób.\n"
RUSSIAN = "Все счастливые семьи похожи друг на друга, каждая несчастливая по-своему.\n"
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\n"
FRENCH = "Le joint fuit dès l’été. Où est la clé ? Déjà réparé, hélas trop tard, à l’évidence.\n"
SPANISH = "El niño comió más piñas. ¿Dónde está la estación? Mañana será otro día, señor Núñez.\n"
SWEDISH = "Räksmörgås är gott på våren. Åke köpte två äpplen och åt dem på ön.\n"
HUNGARIAN = "A közösségi élet erősödik, a szülők és a gyerekek együtt ünnepelnek, örülnek.\n"
TURKISH = "Işığı söndürüp dışarı çıktım. İyi ki öğretmenim beni bekliyordu; ağaç, çiçek, güneş.\n"
CHINESE = "人工智能是计算机科学的一个分支，它企图了解智能的实质。\n"

characters = st.characters(blacklist_categories=["Cs", "Cc"]) | st.sampled_from("\t\n\r")
texts = st.text(alphabet=characters).filter(lambda text: not text.startswith("\ufeff"))


@given(texts)
def test_utf_8_comes_out_as_it_went_in(text: str) -> None:
    assert decode(text.encode()) == text


@given(texts, st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]))
def test_a_byte_order_mark_tells_the_encoding_and_is_dropped(text: str, encoding: str) -> None:
    # U+FEFF then U+0000 in UTF-16 is the mark of UTF-32; texts have no NUL.
    assert decode("\ufeff".encode(encoding) + text.encode(encoding)) == text


@given(st.binary(max_size=200))
def test_any_bytes_are_clean_text_or_refused(data: bytes) -> None:
    try:
        text = decode(data)
    except FileUnreadable:
        return
    assert "\0" not in text
    assert text.encode().decode() == text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ["Hello, wörld\n", CHINESE + "一\n 2 ", "a"])
def test_wide_encodings_are_known_without_a_mark(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "cp1252"),
        (FRENCH + GERMAN + SPANISH + SWEDISH, "cp1252"),
        (HUNGARIAN, "cp1250"),
        (TURKISH, "cp1254"),
        (POLISH, "iso8859-2"),
        (RUSSIAN, "koi8-r"),
        (JAPANESE, "shift-jis"),
        (CHINESE, "gb18030"),
    ],
)
def test_older_encodings_are_recognised_by_their_language(text: str, encoding: str) -> None:
    text = "Plain words and `code = 1` first.\r\n" + text * 3
    assert decode(text.encode(encoding)) == text


def test_a_single_accent_is_taken_for_windows_1252() -> None:
    assert decode(b"plain text\n" * 50 + b"caf\xe9 \x96 5 \x80") == (
        "plain text\n" * 50 + "café – 5 €"
    )


def test_the_words_that_tell_the_encoding_may_come_late() -> None:
    text = "nothing to see here\n" * 20_000 + RUSSIAN * 5
    assert decode(text.encode("koi8-r")) == text


def test_damaged_utf_8_keeps_all_that_is_not_damaged() -> None:
    data = RUSSIAN.encode() + b"\xff\xfe" + RUSSIAN.encode()
    assert decode(data) == RUSSIAN + "\ufffd\ufffd" + RUSSIAN


def test_a_character_cut_off_at_the_end_is_replaced() -> None:
    assert decode("naïve café".encode()[:-1]) == "naïve caf\ufffd"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "a PDF"),
        (b"PK\x03\x04\x14\0", "a ZIP archive"),
        (b"\x89PNG\r\n\x1a\n\0", "a PNG image"),
        (b"\x7fELF\x02\x01\x01\0", "a program"),
        (b"\0\0\0\x20ftypisom\0\0\x02\0", "an MP4 video"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "an old Office document"),
    ],
)
def test_well_known_files_are_refused_by_name(data: bytes, kind: str) -> None:
    with pytest.raises(FileUnreadable, match=f"^is {kind}.*, not text$"):
        decode(data)


@pytest.mark.parametrize("text", ["GIF89a is a format.", "MZ", "ID3 tags", "BM 25", "RIFF"])
def test_a_text_may_begin_like_a_binary_file(text: str) -> None:
    assert decode(text.encode()) == text


@pytest.mark.parametrize(
    "data",
    [
        b"text with a \0 in it",
        codecs.BOM_UTF8 + b"a\0b",
        random.Random(7).randbytes(5_000),
        b"\x01\0\x02\0\x03\0\x04\0" * 50,
    ],
)
def test_nuls_and_control_characters_are_binary(data: bytes) -> None:
    with pytest.raises(FileUnreadable, match="is binary, not text"):
        decode(data)


@pytest.mark.parametrize(
    "data",
    [b"", b" \r\n\t", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, "\u200b\n\ufeff\u2060 ".encode()],
)
def test_a_text_with_nothing_to_read_is_empty(data: bytes) -> None:
    with pytest.raises(FileUnreadable, match="is empty"):
        decode_filled(data)
