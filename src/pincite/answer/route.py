"""Which files there are, or what stands in them? And by which words files are looked for."""

from __future__ import annotations

import re
from typing import Literal

from pincite.text.printable import one_line

# A word that is always a file may be counted, and asked when it was made; one that is also a thing
# of the world (how many letters did Keats write?) must be asked for as a possession of the asker's.
_FILE = (
    r"(?:files?|docu\w{4}s?|docs?|pdfs?|docx|xlsx|pptx|csvs?|epubs?|jpe?gs?|pngs?|spreadsheets?"
    r"|e-?books?|decks?)"
)
KIND = (
    rf"(?:{_FILE}|(?:paper|excel|powerpoint|work(?:book|sheet)|presentation|slide|video|recording"
    r"|transcript|audio|image|photo|picture|scan|book|article|e-?mail|letter|folder|report"
    r"|contract|agreement|invoice|receipt|manual|handbook|guide|note|minute|template|memo|thesis"
    r"|dissertation|essay|(?:data ?|fact )?sheet|white ?paper|run ?book|play ?book|post-?mortem"
    r"|check ?list|newsletter|brochure|leaflet|flyer|certificate|protocol|drawing|(?:wiki|web) page"
    r"|policy page|proposal|spec|specification|version|draft|lecture|interview)s?|theses)"
)
_FILES = rf"{KIND}\b(?! (?:number|amount|total|terms?|clauses?|price|fees?|period|deadlines?)\b)"
_FILE_NAME = r"\w\.(?:pdf|docx?|xlsx?|pptx?|odt|md|txt|csv|mp[34]|vtt|html?|eml)\b"
_HERE = (
    r"(?:(?:in|on|of|among) (?:here|there|file|(?:my|our|the|this)(?: whole| entire)?"
    r" (?:library|collection|catalog|folder|archive|files)))"
)
_FEW = r"(?: (?!(?:is|are|was|do|does|did|has|may|must)\b)[\w'’/&+-]+){0,4} "
_WE_HAVE = (
    r"\b(?:(?:do|did) (?:i|we|you) (?:still |already )?(?:have|own|keep|save|hold)"
    r"|(?:i|we) have|have (?:i|we) (?:got|saved|any))(?! to)\b"
)
_ABOUT_FILES = re.compile(
    r"\b(?:list|show|find|give|get|see|browse|sort|looking for|name|wh?ich|what|whatever|any|of all"
    rf"|newest|latest|oldest|largest|longest|biggest|recent)\b{_FEW}{_FILES}"
    rf"|\b(?:(?:is|are) there|there(?: is| are|'s))\b{_FEW}{_FILES}|{_WE_HAVE}{_FEW}{_FILES}"
    rf"|^(?:[\w-]+ )?{_FILES}(?: (?:on|about|by|from|with|without|in|since|before|after)\b|\W*$)"
    r"|\b(?:who (?:wrote|made|created)|(?:who is|who's) the author of|by whom is)\b"
    rf"{_FEW}{_FILES}(?! that\b)"
    rf"|\bwhen (?:was|were)\b{_FEW}{_FILES}"
    r" (?:last )?(?:written|made|created|changed|modified|added|updated|edited)\b"
    rf"|\b(?:titles?|names?|authors?|dates?) of\b{_FEW}{_FILES}"
    r"|\b(?:how many|count|number of|(?:author|title|names?|type|format|size) of)\b"
    rf"{_FEW}{_FILE}\b(?! (?:can|may|must|should|count)\b)"
    r"|\b(?:i|we) (?:have|hold|own|keep|got)(?: (?:on|about|from|of|by)\b|\W*$)|\bduplicates\b"
    rf"|\b(?:format|type|size|language) is\b{_FEW}{_FILE}\b|\bgot (?:any|some)thing\b"
    r"|\b(?:(?:have|has|do|did) (?:i|we)|there|any) (?:got |have |keep )?"
    r"(?:a |any )?cop(?:y|ies) of\b"
    rf"|\bhow many\b{_FEW}{_FILES}[^?]*(?:\b(?:are there|{_HERE})\b|{_WE_HAVE})"
    rf"|\b(?:is|are)\b{_FEW}{_FILES}[^?]* {_HERE}\b"
    rf"|\bhow (?:many pages (?:does|do|has)|(?:long|large|big|old) (?:is|are)) [^?]*{_FILE}\b"
    rf"|\b{_FILE}\b[^?]*"
    r" (?:created|written|made|changed|modified|added|uploaded|indexed|tagged|dated|available)\b"
    rf"|\b(?:when|who|author|size|title|called|named)\b.*{_FILE_NAME}|{_FILE_NAME}.* {_HERE}\b"
    rf"|\bwhat(?: have (?:i|we) got| do (?:i|we) have|'s| is) (?:on|about|from|{_HERE})\b"
    rf"|{_WE_HAVE}(?: \w+)? (?:any|some)thing|\banything {_HERE}\b|\bfile ?names?\b"
    r"|\beverything (?:\w+ed|by|from|with|since|before|on)\b"
    rf"|{_FILES}[^?]* {_HERE}\b"
    r"|\b(?:did|has|have) [\w']+ (?:actually |already )?(?:uploaded|upload|put|saved?)\b"
    r"|\bwhich \w+ (?:do|did|have) (?:i|we) (?:have|save|own|got)\b",
    re.IGNORECASE,
)
_SAYS = (
    r"(?:say|said|state|explain|recommend|require|conclude|claim|suggest|propose|define|reach|tell"
    r"|give|promise|argue|mention)(?:s|d|ed)?"
)
_INSIDE = re.compile(
    rf"\b{KIND}(?: \w+){{0,2}} {_SAYS}\b"
    # A property of a thing: "which version of Python is required?"
    r"|\b(?:which|what)(?: \w+){0,2} (?:version|protocol|spec|specification|sheet)\b"
    rf"|\b{KIND} did (?!(?:i|we|you) |[\w. ]+ (?:write|upload|send|save|make|create|add)\b)"
    r"|\b(?:according to|summary|summari[sz]e[sd]?|quote from|compare|explain|key points)\b"
    r"|^(?:so |and |ok |hey |please )*(?:why|how (?:do|does|did|can|could|should|to|often|much))\b"
    rf"|\bin (?:the|my|our|this|that) (?:\w+ ){{0,3}}(?!{_FILE}|folder){KIND}\b"
    rf"|\b{KIND} (?:do|does|must|should|will|is|are)\b[^.?!]*"
    rf" (?:need|hand in|submit|bring|provide|send|attach|sign|require[sd]?)\b",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"\b(?:which|what|who|how many|list|show|tell|me|all|the|are|is|was|were|there|do|does|did|i|we"
    r"|you|have|has|got|any|every|each|a|an|of|on|about|for|from|by|with|my|our|your|their|its|in"
    r"|this|these|those|here|to|at|as|that|it|files?|file ?names?|documents?|docs?|types?|formats?"
    r"|kinds?|total|altogether|newest|latest|oldest|largest|smallest|biggest|longest|most|recent|recently"
    r"|first|please|write|can|could|give|find|see|exists?|names?|titles?|called|named|count"
    r"|number|wrote|written|authors?|authored|made|created|dated|added|uploaded|library|folder|collection|catalog"
    r"|available|indexed|saved|stored|and|or|related|everything|anything|something|overview|sort(?:ed)?"
    r"|dates?)\b",
    re.IGNORECASE,
)
_SUFFIXES = {
    "spreadsheet": "xlsx xlsm xls ods csv tsv",
    "excel": "xlsx xlsm xls",
    "presentation": "pptx ppt odp",
    "slide": "pptx ppt odp",
    "deck": "pptx ppt odp",
    "powerpoint": "pptx ppt",
    "word": "docx doc",
    "email": "eml msg mbox",
    "mail": "eml msg mbox",
    "recording": "mp3 wav m4a flac ogg opus mp4 mkv webm mov vtt srt sbv",
    "transcript": "vtt srt sbv",
    "subtitle": "vtt srt sbv",
    "audio": "mp3 wav m4a flac ogg opus",
    "video": "mp4 mkv webm mov",
    "image": "png jpg jpeg tif tiff webp bmp",
    "photo": "png jpg jpeg tif tiff webp bmp",
    "picture": "png jpg jpeg tif tiff webp bmp",
    "ebook": "epub",
    "markdown": "md",
    "notebook": "ipynb",
}


def suffixes_of(word: str) -> frozenset[str]:
    """How the files are called that a word stands for, such as `spreadsheets`; none for most."""
    return frozenset(_SUFFIXES.get(word.replace("-", "").removesuffix("s"), "").split())


def tool_for(prompt: str) -> Literal["search_chunks", "query_catalog"]:
    """Which tool a prompt is for: files as such, or what stands in them."""
    about_files = _ABOUT_FILES.search(prompt) is not None
    inside = _INSIDE.search(prompt) is not None
    return "query_catalog" if about_files and not inside else "search_chunks"


def subject(question: str) -> str:
    """The words by which files are looked for, without those that ask for files."""
    return one_line(re.sub(r"[?!.,]", " ", _FILLER.sub(" ", question)))
