"""Head rules for constituents: the table of M. Collins, "Head-Driven Statistical Models" (1999), appendix A.

Labels are those of the Penn Treebank; a node with an unknown label is headed by its last child, which suits other label
sets with mostly head-final phrases. Parsers that mark heads themselves should write dependencies.
"""

from __future__ import annotations

from collections.abc import Sequence

_TABLE = {
    "ADJP": ("left", "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"),
    "ADVP": ("right", "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
    "CONJP": ("right", "CC RB IN"),
    "FRAG": ("right", ""),
    "INTJ": ("left", ""),
    "LST": ("right", "LS :"),
    "NAC": ("left", "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
    "PP": ("right", "IN TO VBG VBN RP FW"),
    "PRN": ("left", ""),
    "PRT": ("right", "RP"),
    "QP": ("left", "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
    "RRC": ("right", "VP NP ADVP ADJP PP"),
    "S": ("left", "TO IN VP S SBAR ADJP UCP NP"),
    "SBAR": ("left", "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
    "SBARQ": ("left", "SQ S SINV SBARQ FRAG"),
    "SINV": ("left", "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
    "SQ": ("left", "VBZ VBD VBP VB MD VP SQ"),
    "UCP": ("right", ""),
    "VP": ("left", "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP"),
    "WHADJP": ("left", "CC WRB JJ ADJP"),
    "WHADVP": ("right", "CC WRB"),
    "WHNP": ("left", "WDT WP WP$ WHADJP WHPP WHNP"),
    "WHPP": ("right", "IN TO FW"),
}
_RULES = {label: (side, tuple(names.split())) for label, (side, names) in _TABLE.items()}
_NOMINAL = frozenset("NN NNP NNPS NNS NX POS JJR".split())
_PUNCTUATION = frozenset([".", ",", ":", "``", "''", "-LRB-", "-RRB-", "PUNCT"])


def head_child(label: str, children: Sequence[str]) -> int:
    """The index of the head among children with these labels; punctuation only if there is nothing else."""
    places = [place for place, name in enumerate(children) if name not in _PUNCTUATION] or list(range(len(children)))
    if label in ("NP", "NX"):
        return _of_noun_phrase(children, places)
    if label not in _RULES:
        return places[-1]
    side, names = _RULES[label]
    order = places if side == "left" else places[::-1]
    head = _first(children, order, names)
    return order[0] if head is None else head


def _first(children: Sequence[str], order: Sequence[int], names: Sequence[str]) -> int | None:
    """The first child, in ``order``, with the first of ``names`` that occurs."""
    for name in names:
        for place in order:
            if children[place] == name:
                return place
    return None


def _of_noun_phrase(children: Sequence[str], places: Sequence[int]) -> int:
    back = places[::-1]
    for group, order in (
        (_NOMINAL, back),
        (frozenset(["NP"]), places),
        (frozenset(["$", "ADJP", "PRN"]), back),
        (frozenset(["CD"]), back),
        (frozenset(["JJ", "JJS", "RB", "QP"]), back),
    ):
        for place in order:
            if children[place] in group:
                return place
    return back[0]
