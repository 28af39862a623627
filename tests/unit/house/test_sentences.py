"""Docstrings, comments and pages have short sentences, and pages short paragraphs."""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator

from infra.local.places import ROOT
from infra.size import PARTS, pages
from tests.unit.docs.blocks import prose

WORDS_MAX = 25
SENTENCES_MAX = 5

DIRECTIVE = re.compile(r"#!|# ?(noqa|type: ignore|mypy:|ruff:)")
CODE_OR_TABLE = re.compile(r" {4}|\s*\|")
LIST_ITEM = re.compile(r"\s*([-*]|\d+\.) ")
END_OF_SENTENCE = re.compile(r"(?<=[.!?:;])\s+")
WORD = re.compile(r"\S*\w\S*")

#: What Markdown has besides words, and what a reader sees in its place. A span of code is one word.
MARKUP = (
    (re.compile(r"`[^`\n]+`"), "code"),
    (re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)"), r"\1"),
    (re.compile(r"<[^>\n]+>|\*"), ""),
    (re.compile(r"^[ >]+", re.MULTILINE), ""),
    (re.compile(r"^#+ .*$", re.MULTILINE), ""),
    (re.compile(r"^\d+\. ", re.MULTILINE), "- "),
)

#: Lines of text by their numbers.
Lines = dict[int, str]


def docstrings(source: str) -> Iterator[Lines]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node) or ""
            yield dict(enumerate(text.splitlines(), node.body[0].lineno if text else 0))


def comments(source: str) -> Iterator[Lines]:
    """Each block of lines, and each comment beside code."""
    block: Lines = {}
    next_place = (0, 0)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT or DIRECTIVE.match(token.string):
            continue
        line, column = token.start
        if token.start != next_place or token.line[:column].strip():
            yield block
            block = {}
        block[line] = token.string.lstrip("#:").removeprefix(" ")
        next_place = (line + 1, column)
    yield block


def paragraphs(lines: Lines) -> Iterator[Lines]:
    paragraph: Lines = {}
    for line, text in lines.items():
        is_apart = not text.strip() or CODE_OR_TABLE.match(text)
        if is_apart or LIST_ITEM.match(text):
            yield paragraph
            paragraph = {}
        if not is_apart:
            paragraph[line] = text.strip()
    yield paragraph


def paragraphs_of_code(source: str) -> Iterator[Lines]:
    for lines in (*docstrings(source), *comments(source)):
        yield from paragraphs(lines)


def paragraphs_of_page(text: str) -> Iterator[Lines]:
    """The paragraphs of a page without blocks of code, and the cells of its tables."""
    for markup, shown in MARKUP:
        text = markup.sub(shown, text)
    lines = dict(enumerate(text.splitlines(), start=1))
    yield from paragraphs(lines)
    yield from (
        {line: cell.strip()} for line, row in lines.items() if row[:1] == "|" for cell in row.split("|")
    )


def sentences(paragraph: Lines) -> list[str]:
    return END_OF_SENTENCE.split(" ".join(paragraph.values()))


def long_sentences(paragraphs: Iterable[Lines]) -> Iterator[tuple[int, str]]:
    """The sentences of more than WORDS_MAX words, each with the line at which its paragraph begins."""
    for paragraph in paragraphs:
        for sentence in sentences(paragraph):
            if len(WORD.findall(sentence)) > WORDS_MAX:
                yield min(paragraph), sentence


def long_paragraphs(paragraphs: Iterable[Lines]) -> Iterator[tuple[int, str]]:
    """The paragraphs of more than SENTENCES_MAX sentences. A colon or semicolon ends none here."""
    for paragraph in paragraphs:
        if sum(not each.endswith((":", ";")) for each in sentences(paragraph)) > SENTENCES_MAX:
            yield min(paragraph), " ".join(paragraph.values())


def test_sentences_of_docstrings_and_comments_are_found() -> None:
    long, half = "word " * 26, "word " * 13
    docstring = f'"""{half.strip()}.\n{half}\n\n- {half}\n- {half}\n\n    {long}\n\n{half}\n{half}\n"""\n'
    code = f"#!{long}\n# noqa: X - {long}\n# {half}\n#\n# {half}\na = 1  # {half}\nb = 2  # {half}\n"
    assert not list(long_sentences(paragraphs_of_code(code)))
    source = f"{docstring}{code}#: {half}\n#: {half}\n"
    assert [line for line, _ in long_sentences(paragraphs_of_code(source))] == [9, 19]


def test_sentences_of_pages_are_found() -> None:
    half = "word " * 13
    short = (
        f"# {half}\n{half}\n1. {half}`{half}`\n   - [{half}]({half})\n\n**{half}a.** <a b='{half}'>{half}\n"
    )
    assert not list(long_sentences(paragraphs_of_page(short)))
    long = f"| {half} | {half} |\n| {half}{half} |\n\n1. {half}\n   {half}\n\n[{half}](a) {half}\n"
    assert [line for line, _ in long_sentences(paragraphs_of_page(long))] == [4, 7, 2]


def test_paragraphs_of_pages_are_found() -> None:
    five = "A: b; c. " * 5
    page = f"{five}\n\n1. {five}\n2. {five}d\n\n| {five} | {five}d |\n"
    assert [line for line, _ in long_paragraphs(paragraphs_of_page(page))] == [4, 6]


def test_a_sentence_of_a_docstring_or_comment_is_short() -> None:
    folders = [folder for part, folders in PARTS.items() if part != "generated" for folder in folders]
    (generated,) = PARTS["generated"]
    long = [
        f"{path.relative_to(ROOT)}:{line}: {sentence}"
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not path.is_relative_to(ROOT / generated)
        for line, sentence in long_sentences(paragraphs_of_code(path.read_text(encoding="utf-8")))
    ]
    assert not long, "\n".join(long)


def test_a_sentence_and_a_paragraph_of_a_page_are_short() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in pages()
        for too_long in (long_sentences, long_paragraphs)
        for line, text in too_long(paragraphs_of_page(prose(path)))
    ]
    assert not long, "\n".join(long)
