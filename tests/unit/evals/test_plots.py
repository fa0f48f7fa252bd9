"""Numbers as SVG."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pincite.evals import plots

SVG = "{http://www.w3.org/2000/svg}"
WIDTH, HEIGHT = 2, 3  # their places in a viewBox

text = st.text(max_size=20)
number = st.floats(-1e12, 1e12) | st.sampled_from([float("nan"), float("inf")])
share = st.floats(0, 1)
bars = partial(plots.bars, name="quality", title="Quality", write="{:.2f}".format)
curve = partial(plots.curve, name="risk", title="Risk", axes=("answered", "wrong"))


def parsed(svg: str) -> etree._Element:
    return etree.fromstring(svg.encode())


def texts(svg: etree._Element) -> list[str]:
    return [one.text or "" for one in svg.iter(f"{SVG}text")]


def frame(svg: etree._Element) -> tuple[float, float]:
    box = [float(part) for part in svg.get("viewBox", "").split()]
    return box[WIDTH], box[HEIGHT]


@given(st.dictionaries(text, st.dictionaries(text, number, max_size=4), max_size=4))
def test_bars_are_well_formed_and_inside_their_frame_whatever_they_are_given(
    groups: dict[str, dict[str, float]],
) -> None:
    svg = parsed(bars(groups))
    width, height = frame(svg)
    for bar in svg.iter(f"{SVG}rect"):
        assert float(bar.get("x", "")) + float(bar.get("width", "")) <= width
        assert float(bar.get("y", "")) + float(bar.get("height", "")) <= height


@given(st.lists(st.tuples(share, share), max_size=9), st.none() | st.tuples(share, share))
def test_a_curve_is_well_formed_and_inside_its_frame(
    points: list[tuple[float, float]], mark: tuple[float, float] | None
) -> None:
    svg = parsed(curve(sorted(points), mark=mark if points else None))
    width, height = frame(svg)
    (line,) = svg.iter(f"{SVG}polyline")
    drawn = [tuple(map(float, point.split(","))) for point in (line.get("points") or "").split()]
    assert len(drawn) == len(points)
    assert all(0 <= x <= width and 0 <= y <= height for x, y in drawn)


def test_a_plot_tells_its_numbers_to_those_who_do_not_see_it() -> None:
    svg = parsed(bars({"content": {"hit@1": 0.5, "hit@3": 0.75}, "<i>": {"hit@1": 1.0}}))
    by_id = {one.get("id"): one.text for one in svg.iter() if one.get("id")}
    assert svg.get("role") == "img"
    assert by_id[svg.get("aria-labelledby")] == "Quality"
    told = "content: hit@1 0.50, hit@3 0.75; <i>: hit@1 1.00"
    assert by_id[svg.get("aria-describedby")] == told


def test_every_bar_carries_its_name_and_its_value_beside_it() -> None:
    svg = parsed(bars({"content": {"hit@1": 0.5, "hit@3": 0.75}}, most=1))
    assert texts(svg) == [
        *("content", "hit@1", "0.50", "hit@3", "0.75"),
        *("0", "0.25", "0.5", "0.75", "1"),
    ]


def test_a_bar_is_as_long_as_its_value() -> None:
    svg = parsed(bars({"a": {"x": 10.0, "y": 20.0}, "b": {"x": 0.0, "y": -3.0}}))
    lengths = [float(bar.get("width", "")) for bar in svg.iter(f"{SVG}rect")]
    assert lengths[1] == pytest.approx(2 * lengths[0]) != 0
    assert lengths[2:] == [0, 0]


def test_a_figure_has_the_same_colour_in_every_group() -> None:
    svg = parsed(bars({"a": {"x": 1.0, "y": 1.0, "z": 1.0}, "b": {"z": 1.0, "x": 1.0}}))
    x, y, z, *second = (bar.get("class") for bar in svg.iter(f"{SVG}rect"))
    assert len({x, y, z}) == 3
    assert second == [z, x]


def test_what_is_no_number_is_left_out() -> None:
    svg = parsed(bars({"a": {"x": float("nan"), "y": float("inf"), "z": 0.5}}, most=1))
    assert texts(svg)[:3] == ["a", "z", "0.50"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("k" * 54, "k" * 54),
        ("k" * 55, "k" * 53 + "…"),
        ("種" * 28, "種" * 26 + "…"),
        ("a\u202eb\x00", "a\\u202eb\\u0000"),
    ],
)
def test_names_are_cut_to_their_room_and_hide_nothing(name: str, shown: str) -> None:
    assert texts(parsed(bars({name: {"x": 1.0}})))[0] == shown


@given(st.floats(1e-8, 1e9))
def test_ticks_are_even_and_end_at_or_above_the_longest_bar(most: float) -> None:
    svg = parsed(plots.bars({"a": {"x": most}}, name="n", title="t", write=str))
    (bar,) = svg.iter(f"{SVG}rect")
    ticks = sorted({float(line.get("x1", "")) for line in svg.iter(f"{SVG}line")})
    steps = [after - before for before, after in pairwise(ticks)]
    assert 2 <= len(steps) <= 5
    assert max(steps) - min(steps) <= 0.2
    assert ticks[-2] <= float(bar.get("x", "")) + float(bar.get("width", "")) <= ticks[-1] + 0.1


def test_a_curve_has_ticks_on_both_axes_and_its_marked_point_on_it() -> None:
    svg = parsed(curve([(0.5, 0.0), (1.0, 0.4)], mark=(1.0, 0.4)))
    assert texts(svg) == [
        "wrong",
        *("0 %", "10 %", "20 %", "30 %", "40 %"),
        *("0 %", "25 %", "50 %", "75 %", "100 %"),
        "answered",
    ]
    (line,), (dot,) = svg.iter(f"{SVG}polyline"), svg.iter(f"{SVG}circle")
    assert (line.get("points") or "").split()[-1] == f"{dot.get('cx')},{dot.get('cy')}"
    assert "answered 100 %, wrong 40 %" in etree.tostring(svg, encoding="unicode")


@pytest.mark.parametrize(("value", "shown"), [(0, "0 %"), (0.495, "49.5 %"), (1, "100 %")])
def test_shares_are_written_in_per_cent(value: float, shown: str) -> None:
    assert plots.percent(value) == shown
