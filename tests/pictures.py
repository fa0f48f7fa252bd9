"""Images and PDFs that tests make themselves."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pypdfium2  # type: ignore[import-untyped]
from PIL import Image, ImageDraw, ImageFont


def picture(text: str = "", size: tuple[int, int] = (800, 300), letters: float = 40) -> Image.Image:
    """Black words on white."""
    image = Image.new("RGB", size, "white")
    ImageDraw.Draw(image).multiline_text(
        (40, 40), text, fill="black", font=ImageFont.load_default(letters), spacing=20
    )
    return image


def saved(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    """The image as a file."""
    written = io.BytesIO()
    image.save(written, kind, **options)
    return written.getvalue()


def scanned_pdf(*images: Image.Image) -> bytes:
    """A PDF whose pages are nothing but pictures."""
    first, *others = images
    return saved(first, "PDF", save_all=True, append_images=others, title="A scan")


def joined(*documents: bytes) -> bytes:
    """One PDF of the pages of several."""
    whole = pypdfium2.PdfDocument.new()
    for data in documents:
        whole.import_pages(pypdfium2.PdfDocument(data))
    written = io.BytesIO()
    whole.save(written)
    return written.getvalue()


def text_pdf(*lines: str) -> bytes:
    """A PDF of one page with these words as text."""
    shown = b"".join(b"(%s) ' " % line.encode() for line in lines)
    return pdf_with(b"BT /F1 12 Tf 14 TL 50 700 Td " + shown + b"ET")


def pdf_with(content: bytes) -> bytes:
    """A PDF of one page that shows this."""
    objects: Sequence[bytes] = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources "
        b"<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
    )
    numbered = (b"%d 0 obj\n%s\nendobj\n" % (n, body) for n, body in enumerate(objects, 1))
    return b"%PDF-1.4\n" + b"".join(numbered) + b"trailer << /Root 1 0 R >>\n"
