"""Docstrings and comments consist of short sentences."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from infra.local.places import ROOT
from infra.size import PARTS

WORDS_MAX = 25

DIRECTIVE = re.compile(r"#!|# ?(noqa|type: ignore|mypy:|ruff:)")
CODE_OR_TABLE = re.compile(r" {4}|\s*\|")
LIST_ITEM = re.compile(r"\s*([-*]|\d+\.) ")
END_OF_SENTENCE = re.compile(r"(?<=[.!?:;])\s+")
WORD = re.compile(r"\S*\w\S*")

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


def long_sentences(source: str) -> Iterator[tuple[int, str]]:
    """The sentences of more than WORDS_MAX words, each with the line at which its paragraph begins."""
    for lines in (*docstrings(source), *comments(source)):
        for paragraph in paragraphs(lines):
            for sentence in END_OF_SENTENCE.split(" ".join(paragraph.values())):
                if len(WORD.findall(sentence)) > WORDS_MAX:
                    yield min(paragraph), sentence


def test_sentences_of_docstrings_and_comments_are_found() -> None:
    long, half = "word " * 26, "word " * 13
    docstring = f'"""{half.strip()}.\n{half}\n\n- {half}\n- {half}\n\n    {long}\n\n{half}\n{half}\n"""\n'
    code = f"#!{long}\n# noqa: X - {long}\n# {half}\n#\n# {half}\na = 1  # {half}\nb = 2  # {half}\n"
    assert not list(long_sentences(code))
    assert [line for line, _ in long_sentences(f"{docstring}{code}#: {half}\n#: {half}\n")] == [9, 19]


def test_a_sentence_of_a_docstring_or_comment_is_short() -> None:
    folders = [folder for part, folders in PARTS.items() if part != "generated" for folder in folders]
    (generated,) = PARTS["generated"]
    long = [
        f"{path.relative_to(ROOT)}:{line}: {sentence}"
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not path.is_relative_to(ROOT / generated)
        for line, sentence in long_sentences(path.read_text(encoding="utf-8"))
    ]
    assert not long, "\n".join(long)
