"""Characters that are kept as numbers in a font of pictures or of Greek letters."""

from __future__ import annotations

# The letters a to z and A to Z in the font Symbol.
_GREEK = dict(
    zip(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "αβχδεφγηιϕκλμνοπθρστυϖωξψζΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ",
        strict=True,
    )
)
_IN_FONT = {
    "symbol": {
        **{ord(letter): greek for letter, greek in _GREEK.items()},
        **{0xA3: "≤", 0xA5: "∞", 0xAB: "↔", 0xAC: "←", 0xAD: "↑", 0xAE: "→", 0xAF: "↓"},
        **{0xB0: "°", 0xB1: "±", 0xB3: "≥", 0xB4: "×", 0xB5: "∝", 0xB6: "∂", 0xB7: "•"},
        **{0xB8: "÷", 0xB9: "≠", 0xBA: "≡", 0xBB: "≈", 0xC6: "∅", 0xC7: "∩", 0xC8: "∪"},
        **{0xCC: "⊂", 0xCE: "∈", 0xCF: "∉", 0xD1: "∇", 0xD5: "∏", 0xD6: "√", 0xDE: "⇒"},
        **{0xE5: "∑", 0xF2: "∫"},
    },
    "wingdings": {
        **{0x4A: "☺", 0x4C: "☹", 0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x71: "☐", 0x76: "❖"},
        **{0xA7: "▪", 0xA8: "☐", 0xB7: "•", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑"},
        **{0xE2: "↓", 0xE8: "➔", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑"},
    },
    "wingdings 2": {0x50: "✓", 0x4F: "✗", 0x51: "☒", 0x52: "☑", 0xA3: "☐"},
}
_PRIVATE = range(0xF000, 0xF100)  # where such fonts have their characters


def symbol(font: str, code: str) -> str:
    """The character that is shown; nothing where only the font knows."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    if number in _PRIVATE:
        number -= _PRIVATE.start
        known = _IN_FONT.get(font.lower(), {}).get(number)
        return known or (chr(number) if font.lower() == "symbol" and 0x20 <= number < 0x7F else "")
    # Outside of the private area, and no half of a surrogate pair.
    is_character = 0x20 <= number < 0xD800 or 0xE000 <= number < 0x110000
    return _IN_FONT.get(font.lower(), {}).get(number) or (chr(number) if is_character else "")
