import pytest

from pincite.reading.lines.headings import heading_text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Plain words", "Plain words"),
        ("  spaced \t out  ", "spaced out"),
        ("**Bold** and *thin* and __both__ and _one_", "Bold and thin and both and one"),
        ("Use `kubectl get` now", "Use kubectl get now"),
        ("About `**user_dict`", "About **user_dict"),
        ("`List<T>` and <abbr title='x'>LLM</abbr>", "List<T> and LLM"),
        ("See [the `docs`](http://x.y/z) here", "See the docs here"),
        ("![logo](a.png) [ref][1]", "logo ref"),
        ("Pods {#pods}", "Pods"),
        ("Pods { #pods .wide }", "Pods"),
        ('{{% heading "whatsnext" %}}', "whatsnext"),
        ("snake_case_name stays", "snake_case_name stays"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        (r"A \* star", "A * star"),
        ("Q&amp;A", "Q&A"),
        ("C# and F#", "C# and F#"),
        ("日本語の見出し", "日本語の見出し"),
        ("", ""),
    ],
)
def test_a_heading_is_its_words(source: str, text: str) -> None:
    assert heading_text(source) == text


@pytest.mark.parametrize("unit", ["[", "*a", "`", "<a", "[a](", "{#", "_", "{{<", "\\", "![]"])
def test_a_hostile_heading_is_cut_before_it_costs_anything(unit: str) -> None:
    assert len(heading_text(unit * 200_000)) <= 300
