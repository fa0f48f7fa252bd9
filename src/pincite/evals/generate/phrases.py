"""How questions are asked, in the languages we can ask them in."""

from __future__ import annotations

import re
from collections import Counter
from typing import Literal

Form = Literal[
    "is",
    "about",
    "about_in",
    "stands_for",
    "who",
    "when",
    "by",
    "tagged",
    "which",
    "said",
    "in",
    "recorded",
]

_FORMS: dict[str, dict[Form, str]] = {
    "en": {
        "is": "What is {x}?",
        "about": "What is said about “{x}”?",
        "about_in": "What does “{title}” say about “{x}”?",
        "stands_for": "What does {x} stand for?",
        "who": "Who wrote “{title}”?",
        "when": "When was “{title}” written?",
        "recorded": "When was “{title}” recorded?",
        "by": "What did {x} write?",
        "tagged": "Which documents are tagged “{x}”?",
        "which": "Which document is about “{title}”?",
        "said": "When is “{x}” mentioned in “{title}”?",
        "in": "What was said about “{x}” in {title}?",
    },
    "de": {
        "is": "Was ist {x}?",  # codespell:ignore ist
        "about": "Was steht über „{x}“ geschrieben?",
        "about_in": "Was steht in „{title}“ über „{x}“?",
        "stands_for": "Wofür steht {x}?",
        "who": "Wer hat „{title}“ geschrieben?",
        "when": "Wann wurde „{title}“ geschrieben?",
        "recorded": "Wann wurde „{title}“ aufgenommen?",
        "by": "Was hat {x} geschrieben?",
        "tagged": "Welche Dokumente haben das Schlagwort „{x}“?",
        "which": "Was handelt von „{title}“?",
        "said": "Wann wird „{x}“ in „{title}“ erwähnt?",
        "in": "Was wurde {title} über „{x}“ gesagt?",
    },
    "fr": {
        "is": "Qu’est-ce que {x} ?",
        "about": "Que dit-on de « {x} » ?",
        "about_in": "Que dit « {title} » au sujet de « {x} » ?",
        "stands_for": "Que signifie {x} ?",
        "who": "Qui a écrit « {title} » ?",
        "when": "Quand « {title} » a-t-il été écrit ?",
        "recorded": "Quand « {title} » a-t-il été enregistré ?",
        "by": "Qu’a écrit {x} ?",
        "tagged": "Quels documents portent le mot-clé « {x} » ?",
        "which": "Quel document traite de « {title} » ?",
        "said": "Quand « {x} » est-il mentionné dans « {title} » ?",
        "in": "Qu’a-t-on dit de « {x} » en {title} ?",
    },
    "es": {
        "is": "¿Qué es {x}?",
        "about": "¿Qué se dice de «{x}»?",
        "about_in": "¿Qué dice «{title}» sobre «{x}»?",
        "stands_for": "¿Qué significa {x}?",
        "who": "¿Quién escribió «{title}»?",
        "when": "¿Cuándo se escribió «{title}»?",
        "recorded": "¿Cuándo se grabó «{title}»?",
        "by": "¿Qué escribió {x}?",
        "tagged": "¿Qué documentos llevan la etiqueta «{x}»?",
        "which": "¿Qué documento trata de «{title}»?",
        "said": "¿Cuándo se menciona «{x}» en «{title}»?",
        "in": "¿Qué se dijo de «{x}» en {title}?",
    },
    "zh": {
        "is": "{x}是什么？",
        "about": "关于“{x}”，文中说了什么？",
        "about_in": "“{title}”中关于“{x}”说了什么？",
        "stands_for": "{x}代表什么？",
        "who": "“{title}”是谁写的？",
        "when": "“{title}”是什么时候写的？",
        "recorded": "“{title}”是什么时候录制的？",
        "by": "{x}写了什么？",
        "tagged": "哪些文件的标签是“{x}”？",
        "which": "哪份文件是关于“{title}”的？",
        "said": "“{title}”中什么时候提到“{x}”？",
        "in": "{title}年关于“{x}”说了什么？",
    },
    "ja": {
        "is": "{x}とは何ですか？",
        "about": "「{x}」について何と書いてありますか？",
        "about_in": "「{title}」には「{x}」について何と書いてありますか？",
        "stands_for": "{x}は何の略ですか？",
        "who": "「{title}」は誰が書きましたか？",
        "when": "「{title}」はいつ書かれましたか？",
        "recorded": "「{title}」はいつ録音されましたか？",
        "by": "{x}は何を書きましたか？",
        "tagged": "「{x}」のタグが付いている文書はどれですか？",
        "which": "「{title}」についての文書はどれですか？",
        "said": "「{title}」で「{x}」はいつ出てきますか？",
        "in": "{title}年に「{x}」について何が言われましたか？",
    },
}

# Short words by which the languages with spaces are told apart; none is in two of the lists.
_SMALL_WORDS = {
    "en": "the and of is are that with for this it you have not from",
    "de": "und der das nicht mit auf für ein eine werden auch wird sich dem",
    "fr": "les des est dans une pour qui par sur avec sont pas cette aux",
    "es": "los las una por con para del como más pero está sus entre también",
}
_LANGUAGE_OF = {word: name for name, words in _SMALL_WORDS.items() for word in words.split()}
_LOOKED_AT = 4_000  # characters from the beginning
_FEWEST = 3  # small words that make a language likely
_WORD = re.compile(r"[^\W\d_]+")
_KANA = re.compile(r"[\u3041-\u30fa]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_LEAST_HAN = 0.1  # of a text, that makes it Chinese or Japanese
# A search demands what stands in double quotes to the letter; nobody who asks knows the letters.
_SINGLE_QUOTES = str.maketrans('“”„«»「」『』"', "‘’‚‹›〈〉〈〉'")


def language_of(text: str, told: str | None) -> str | None:
    """A language we can ask in; None where the text is in another one, or in none at all."""
    if (tongue := re.split("[-_]", told or "")[0].lower()) in _FORMS:
        return tongue
    beginning = text[:_LOOKED_AT]
    if len(_HAN.findall(beginning)) + len(kana := _KANA.findall(beginning)) > _LEAST_HAN * len(
        beginning
    ):
        return "ja" if kana else "zh"
    words = map(_LANGUAGE_OF.get, map(str.lower, _WORD.findall(beginning)))
    likely = Counter(filter(None, words)).most_common(1)
    return likely[0][0] if likely and likely[0][1] >= _FEWEST else None


def asked(language: str, form: Form, *, x: str = "", title: str = "") -> str:
    """A question in one of our languages."""
    return _FORMS[language][form].format(x=x, title=title)


def without_phrases(question: str) -> str:
    """The question with single quotes, which a search does not take for a phrase."""
    return question.translate(_SINGLE_QUOTES)
