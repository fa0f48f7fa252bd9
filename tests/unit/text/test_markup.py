import pytest

from pincite.text.markup import without_markup


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("see [the *guide*](https://a.b/c_(d)) now", "see the guide now"),
        ("see [the guide][1] now", "see the guide now"),
        ("a ![picture](x.png)b", "a b"),
        ("**bold**, __bold__, *it* and _it_", "bold, bold, it and it"),
        ("snake_case and 5 * 3 * 2 stay", "snake_case and 5 * 3 * 2 stay"),
        ("the `--flag` and ``a_b``", "the --flag and a_b"),
        ("a <b>tag</b> and <!-- a note -->end", "a tag and end"),
        ("x < y and y > z", "x < y and y > z"),
        ('the {{< tooltip text="Pods" term="pod" >}} run {{< note >}}', "the Pods run "),
        (":class:`~a.B` and `here <http://x>`_", "~a.B and here "),
        ("[[http://x.y][Org]] has ~code~ and =verbatim=", "Org has code and verbatim"),
        ("a=b and c=d", "a=b and c=d"),
        ("> quoted\n> twice", "quoted\ntwice"),
        ("- [x] done", "done"),
        ("12. twelfth", "twelfth"),
        ("noted[^1] and &amp; \\*", "noted and & *"),
        ("never <!-- closed", "never <!-- closed"),
        ("日本語の**強調**です", "日本語の強調です"),
    ],
)
def test_markup_is_taken_off(source: str, words: str) -> None:
    assert without_markup(source) == words
