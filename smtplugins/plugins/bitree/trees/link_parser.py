"""Parse English into constituent trees by Link Grammar's ``link-parser``; trees are bracketed lines.

D. Sleator and D. Temperley, "Parsing English with a Link Grammar" (1993). The program is external: on Debian, packages
link-grammar and link-grammar-dictionaries-en. It splits and marks words, which are matched to the sentence's words by
their letters. Parts of speech are Penn-like tags, guessed from the marks and from lists of closed classes. Unlinked
words stay where the parser writes them; a final full stop is attached to the root.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence

from smtformats.tokens import BadField
from smtformats.tree.trees import Tree, tree_of
from smtplugins.contracts.errors import SmtError

COMMAND = ("link-parser", "en", "-constituents=3", "-graphics=0", "-verbosity=0", "-echo=1", "-spell=0", "-limit=100")
_MARKS = re.compile(r"\{[!?~&]\}")
_SUBSCRIPT = re.compile(r"\.([a-z][a-z-]*)$")
_CLOSED = {
    "DT": "a an the this that these those some any each every no another both all",
    "IN": "in on at of with by for from into onto over under near through around behind beside between along across "
    "past up down off outside inside against during while as like toward towards above below about after before",
    "TO": "to",
    "CC": "and or but nor",
    "PRP": "i you he she it we they me him us them himself herself itself themselves",
    "PRP$": "my your his her its our their",
    "CD": "one two three four five six seven eight nine ten",
    "WP": "who whom which what",
    "VBZ": "is has does was",
    "VBP": "are have do were",
    ".": ". ! ?",
    ",": ",",
    ":": ": ; - --",
}
_TAGS = {word: tag for tag, words in _CLOSED.items() for word in words.split()}
_OPEN = {"n": "NN", "s": "NN", "t": "NN", "p": "NNS", "v": "VB", "g": "VBG", "a": "JJ", "e": "RB", "r": "RB"}


def parse(sentences: Sequence[Sequence[str]], command: Sequence[str] = COMMAND) -> Iterator[str]:
    """Yield a bracketed tree for each sentence, ``()`` if the parser finds none or its words differ."""
    text = "".join(" ".join(words) + "\n" for words in sentences)
    try:
        run = subprocess.run([*command], input=text, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise SmtError(f"{command[0]}: expected Link Grammar's parser, found no such program") from None
    if run.returncode:
        raise SmtError(f"{command[0]}: failed ({run.returncode}): {run.stderr.strip()[-300:]}")
    for words, line in zip(sentences, _lines(run.stdout.split("\n"), sentences), strict=True):
        yield bracketed(words, line)


def _lines(lines: Iterable[str], sentences: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the tree that follows each echoed sentence; empty if there is none."""
    stream = iter(lines)
    waiting = next(stream, None)
    for words in sentences:
        text = " ".join(words)
        # The parser prints settings before the first sentence, and warnings anywhere.
        skipped = []
        while waiting is not None and waiting.strip() != text:
            skipped.append(waiting)
            waiting = next(stream, None)
        if waiting is None:
            # The sentence was not echoed literally: reread the skipped lines for the next sentences.
            waiting, stream = (skipped[0], iter(skipped[1:])) if skipped else (None, iter(()))
            yield ""
            continue
        waiting = next(stream, None)
        yield waiting if waiting is not None and waiting.startswith("(") else ""


def bracketed(words: Sequence[str], line: str) -> str:
    """Rewrite a tree of the parser over the sentence's own words, with parts of speech; ``()`` if they differ."""
    try:
        tree = tree_of(line, 1000) if line else None
        return "()" if tree is None else str(_without_stop(_with_whole_words(tree, list(words))))
    except BadField:
        return "()"


def _with_whole_words(tree: Tree, words: list[str]) -> Tree:
    """Replace the parser's word pieces by a tag and the whole word."""
    rest = ""
    stack: list[tuple[str, list[Tree | str]]] = []
    root: Tree | None = None
    for item in tree.walk():
        if isinstance(item, Tree):
            stack.append((item.label, []))
        elif item is None:
            label, children = stack.pop()
            root = Tree(label, tuple(children))
            if stack and children:
                stack[-1][1].append(root)
        else:
            piece, mark = _plain(item, rest or (words[0] if words else ""))
            if not rest:
                if not words:
                    raise BadField("no more words", item)
                rest = words.pop(0)
                stack[-1][1].append(Tree(tag(rest, mark), (rest,)))
            if not rest.lower().startswith(piece.lower()):
                raise BadField(rest, item)
            rest = rest[len(piece) :]
    if rest or words or root is None:
        raise BadField("all words of the sentence", "others")
    return root


def _plain(piece: str, wanted: str) -> tuple[str, str]:
    """Split a piece into the sentence's spelling and the parser's mark."""
    text = _MARKS.sub("", piece)
    if len(text) > 2 and text[0] == "{" and text[-1] == "}":
        text = text[1:-1]
    match = _SUBSCRIPT.search(text)
    if match is None or text.lower() == wanted.lower():
        return text, ""
    return text[: match.start()], match[1]


def tag(word: str, mark: str) -> str:
    """Guess a part of speech from lists of closed classes and the parser's mark."""
    known = _TAGS.get(word.lower())
    if known is not None:
        return known
    if mark == "v-d":
        return "VBD"
    return _OPEN.get(mark[:1], "XX")


def _without_stop(tree: Tree) -> Tree:
    """Move a final full stop below the root."""
    path: list[Tree] = [tree]
    while True:
        last = path[-1].children[-1]
        if isinstance(last, str):
            break
        path.append(last)
    stop = path.pop()
    if stop.label != "." or len(path) < 2:
        return tree
    left: Tree | None = None
    for place, node in enumerate(reversed(path)):
        children = node.children[:-1] if place == 0 or left is None else (*node.children[:-1], left)
        left = Tree(node.label, children) if children else None
    return Tree(tree.label, (*(left.children if left is not None else ()), stop))
