from __future__ import annotations

from collections.abc import Callable

import pytest

from office_files import (
    SlideXml,
    core_properties,
    frame,
    graphic,
    notes_slide,
    package,
    pptx,
    shape,
    unpacked,
)
from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.office.package import read
from pincite.reading.source_file import SourceFile
from pincite.records import BlockKind, Content, OmissionReason

_CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"
_DIAGRAM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
_SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"


def presentation(*slides: SlideXml | str, options: tuple[str, ...] = ()) -> Content:
    made = (SlideXml(one) if isinstance(one, str) else one for one in slides)
    return read(SourceFile("a.pptx", pptx(*made), options=frozenset(options)))


def changed(data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """The file with each of its parts changed."""
    return package({name: change(part) for name, part in unpacked(data).items()})


def without(data: bytes, missing: str) -> bytes:
    """The file without one of its parts."""
    return package({name: part for name, part in unpacked(data).items() if name != missing})


def title(text: str) -> str:
    return shape(text, placeholder="title")


def paragraph(text: str, properties: str = "") -> str:
    return f"<a:p>{properties}<a:r><a:t>{text}</a:t></a:r></a:p>"


def test_each_slide_is_a_page_under_its_title() -> None:
    content = presentation(
        title("First") + shape("one", placeholder="body", index=1),
        title("Second") + shape("two", placeholder="body", index=1),
    )
    assert content.type == "pptx"
    assert content.text == "First\n\none\n\nSecond\n\ntwo"
    assert [section.heading_path for section in content.sections] == [("First",), ("Second",)]
    assert [place.page for place in content.places] == [1, 1, 2, 2]
    assert content.metadata.pages == 2
    assert content.title == "First"


def item(text: str, depth: int, mark: str = "") -> str:
    return paragraph(text, f'<a:pPr lvl="{depth}">{mark}</a:pPr>')


def picture(description: str) -> str:
    return (
        f'<p:pic><p:nvPicPr><p:cNvPr id="1" name="" descr="{description}"/></p:nvPicPr>'
        f"<p:spPr>{frame('a', (0, 0, 9, 9))}</p:spPr></p:pic>"
    )


_NUMBER = '<a:buAutoNum type="arabicPeriod"/>'
_NUMBERED = (("a", 0), ("b", 1), ("c", 1), ("d", 0), ("e", 1))
_ROWS = "".join(
    "<a:tr>"
    + "".join(f"<a:tc><a:txBody>{paragraph(one)}</a:txBody></a:tc>" for one in row)
    + "</a:tr>"
    for row in (("Name", "Age"), ("Ann", "30"))
)
SHOWN = {
    "items have their depth": (
        shape("one", item("deeper", 1), item("plain", 0, "<a:buNone/>"), placeholder="body"),
        "- one\n  - deeper\n\nplain",
    ),
    "numbers count at each depth": (
        shape(*(item(text, depth, _NUMBER) for text, depth in _NUMBERED)),
        "1. a\n  1. b\n  2. c\n2. d\n  1. e",
    ),
    "shapes from top to bottom and left to right": (
        shape("lower", at=(0, 300, 100, 50))
        + shape("right", at=(500, 98, 100, 50))
        + shape("left", at=(0, 100, 100, 50))
        + shape("top", at=(700, 0, 100, 50)),
        "top\n\nleft\n\nright\n\nlower",
    ),
    "placeholders by their index, what is above them first": (
        shape("cons", placeholder="body", index=3, at=(500, 100, 100, 100))
        + shape("pros", placeholder="body", index=1, at=(0, 100, 100, 100))
        + shape("below", at=(0, 400, 100, 50))
        + shape("above", at=(0, 0, 100, 50)),
        "above\n\npros\n\ncons\n\nbelow",
    ),
    "no numbers, dates and footers": (
        shape("a") + "".join(shape("x", placeholder=one) for one in ("sldNum", "dt", "ftr", "hdr")),
        "a",
    ),
    "groups in order": (
        '<p:grpSp><p:nvGrpSpPr><p:cNvPr id="1" name=""/></p:nvGrpSpPr>'
        f"<p:grpSpPr>{frame('a', (0, 0, 100, 100))}</p:grpSpPr>"
        f"{shape('b', at=(0, 9, 5, 5))}{shape('a', at=(0, 0, 5, 5))}</p:grpSp>",
        "a\n\nb",
    ),
    "the better one of two forms": (
        f"<mc:AlternateContent><mc:Choice Requires='x'>{shape('new')}</mc:Choice>"
        f"<mc:Fallback>{shape('old')}</mc:Fallback></mc:AlternateContent>",
        "new",
    ),
    "tables": (graphic(f"<a:tbl>{_ROWS}</a:tbl>"), "| Name | Age |\n| Ann | 30 |"),
    "pictures that are described": (
        picture("A pump\n\nAI-generated content may be incorrect.") + picture("Picture 3"),
        "[picture: A pump]",
    ),
}


@pytest.mark.parametrize("case", SHOWN)
def test_a_slide_is_read_as_people_read_it(case: str) -> None:
    shapes, shown = SHOWN[case]
    assert presentation(shapes + title("T")).text == f"T\n\n{shown}"


def test_items_and_tables_are_blocks_of_their_kind() -> None:
    content = presentation(SHOWN["items have their depth"][0] + SHOWN["tables"][0])
    assert {block.kind for block in content.blocks} >= {BlockKind.ITEM, BlockKind.TABLE}


def test_a_damaged_chart_does_not_spoil_its_slide() -> None:
    slide = SlideXml(
        title("T") + graphic('<c:chart r:id="rId9"/>'),
        {("rId9", "chart", "charts/chart1.xml"): "<c:chart"},
    )
    assert presentation(slide).text == "T"


def test_a_slide_without_a_title_is_called_by_its_number_and_none_is_empty() -> None:
    content = presentation(title("First"), "", shape("text"))
    assert content.text == "First\n\nSlide 3\n\ntext"
    with pytest.raises(FileEmpty):
        presentation("", shape())


def test_a_title_on_two_lines_is_one_heading() -> None:
    broken = paragraph("Two</a:t></a:r><a:br/><a:r><a:t>lines")
    content = presentation(shape(broken, placeholder="ctrTitle"))
    assert content.sections[0].heading_path == ("Two lines",)


def test_charts_are_read_as_tables() -> None:
    def points(name: str, *values: str) -> str:
        inner = "".join(
            f'<c:pt idx="{at}"><c:v>{value}</c:v></c:pt>' for at, value in enumerate(values)
        )
        return f"<c:{name}><c:numRef><c:numCache>{inner}</c:numCache></c:numRef></c:{name}>"

    series = "".join(
        f"<c:ser><c:tx><c:strRef><c:strCache><c:pt idx='0'><c:v>{name}</c:v></c:pt></c:strCache>"
        f"</c:strRef></c:tx>{points('cat', 'North', 'South')}{points('val', *values)}</c:ser>"
        for name, values in (("2022", ("4.2999999999999998", "2")), ("2023", ("5", "1")))
    )
    chart = (
        f'<c:chartSpace xmlns:c="{_CHART}" xmlns:a="{_DRAWING}"><c:chart><c:title><c:tx><c:rich>'
        f"{paragraph('Sales')}</c:rich></c:tx></c:title><c:plotArea><c:barChart>{series}"
        "</c:barChart></c:plotArea></c:chart></c:chartSpace>"
    )
    slide = SlideXml(
        title("T") + graphic('<c:chart r:id="rId9"/>'),
        {("rId9", "chart", "charts/chart1.xml"): chart},
    )
    assert presentation(slide).text == (
        "T\n\nChart: Sales\n\n|  | 2022 | 2023 |\n| North | 4.3 | 5 |\n| South | 2 | 1 |"
    )


def test_diagrams_are_read_as_items() -> None:
    def point(text: str, kind: str) -> str:
        return f'<dgm:pt type="{kind}"><dgm:t>{paragraph(text)}</dgm:t></dgm:pt>'

    data = (
        f'<dgm:dataModel xmlns:dgm="{_DIAGRAM}" xmlns:a="{_DRAWING}"><dgm:ptLst>'
        f"{point('Plan', 'node')}{point('not this', 'pres')}{point('Do', 'node')}"
        "</dgm:ptLst></dgm:dataModel>"
    )
    slide = SlideXml(
        title("T") + graphic('<dgm:relIds r:dm="rId8"/>'),
        {("rId8", "diagramData", "diagrams/data1.xml"): data},
    )
    assert presentation(slide).text == "T\n\n- Plan\n- Do"


def test_notes_follow_their_slide() -> None:
    notes = {("rId7", "notesSlide", "notesSlides/notesSlide1.xml"): notes_slide("Speak up")}
    content = presentation(SlideXml(title("T") + shape("text"), notes))
    assert content.text == "T\n\ntext\n\nNotes: Speak up"


def test_comments_are_read_where_they_are_asked_for() -> None:
    comments = f'<p:cmLst xmlns:p="{_SLIDES}"><p:cm><p:text>Really? </p:text></p:cm></p:cmLst>'
    slide = SlideXml(title("T"), {("rId6", "comments", "comments/comment1.xml"): comments})
    assert presentation(slide).text == "T"
    assert presentation(slide, options=("comments",)).text == "T\n\n[comment: Really?]"


def hidden_parts(content: Content) -> list[tuple[str, OmissionReason]]:
    return [(content.text[one.start : one.end], one.reason) for one in content.omissions]


def test_hidden_slides_are_kept_but_marked() -> None:
    table = (
        "<a:tbl><a:tr><a:tc><a:txBody>" + paragraph("cell") + "</a:txBody></a:tc></a:tr></a:tbl>"
    )
    slide = SlideXml(title("Secret") + shape("text") + graphic(table), attributes='show="0"')
    content = presentation(title("Shown"), slide)
    assert content.text == "Shown\n\nSlide 2 (hidden)\n\nSecret\n\ntext\n\ncell"
    assert hidden_parts(content) == [
        (text, OmissionReason.HIDDEN) for text in ("Secret", "text", "cell")
    ]


def test_hidden_shapes_and_what_is_beside_the_slide_are_kept_but_marked() -> None:
    content = presentation(
        title("T")
        + shape("hidden", hidden=True, at=(0, 0, 10, 10))
        + shape("outside", at=(1_000, 100, 50, 50))
        + shape("above", at=(0, -60, 50, 50))
        + shape("half", at=(990, 200, 50, 50))
    )
    assert hidden_parts(content) == [
        ("above", OmissionReason.OFF_PAGE),
        ("hidden", OmissionReason.HIDDEN),
        ("outside", OmissionReason.OFF_PAGE),
    ]


def test_a_hidden_title_is_no_heading() -> None:
    content = presentation(shape("Secret", placeholder="title", hidden=True) + shape("text"))
    assert content.sections[0].heading_path == ("Slide 1",)
    assert hidden_parts(content) == [("Secret", OmissionReason.HIDDEN)]


def test_what_the_file_says_about_itself_is_kept() -> None:
    properties = core_properties(
        title="Plans", creator="Ann", created="2024-05-01T10:00:00Z", keywords="a, b"
    )
    content = read(SourceFile("a.pptx", pptx(SlideXml(shape("x")), properties=properties)))
    assert content.title == "Plans"
    assert content.metadata.author == "Ann"
    assert content.metadata.date == "2024-05-01T10:00:00+00:00"
    assert content.metadata.tags == ("a", "b")


def test_what_a_library_left_from_its_template_is_not() -> None:
    properties = core_properties(
        title="PowerPoint Presentation", creator="Steve Canny", created="2013-01-27T09:14:16Z"
    )
    content = read(SourceFile("a.pptx", pptx(SlideXml(shape("x")), properties=properties)))
    assert (content.title, content.metadata.author, content.metadata.date) == (None, None, None)


def test_the_strict_form_of_the_standard_is_read() -> None:
    data = pptx(SlideXml(title("T") + shape("text")))
    usual, strict = b"http://schemas.openxmlformats.org", b"http://purl.oclc.org/ooxml"
    strictly = changed(
        data,
        lambda part: (
            part.replace(usual + b"/presentationml/2006", strict + b"/presentationml")
            .replace(usual + b"/drawingml/2006", strict + b"/drawingml")
            .replace(usual + b"/officeDocument/2006", strict + b"/officeDocument")
        ),
    )
    assert read(SourceFile("a.pptx", strictly)).text == "T\n\ntext"


def test_slides_that_are_missing_or_damaged_still_count() -> None:
    data = pptx(SlideXml(title("One")), SlideXml("<p:sp>"), SlideXml(title("Three")))
    content = read(SourceFile("a.pptx", without(data, "ppt/slides/slide1.xml")))
    assert content.text == "Three"
    assert content.places[0].page == 3
    assert content.metadata.notes == (
        "slide 1 is missing",
        "slide 2 is damaged: a part of it is not well-formed XML",
    )


def test_nothing_but_damaged_slides_is_unreadable_not_empty() -> None:
    with pytest.raises(FileUnreadable, match="slide 1") as raised:
        presentation("<p:sp>")
    assert not isinstance(raised.value, FileEmpty)
