"""The native core. Use the Python modules around it."""

from collections.abc import Iterable, Sequence
from typing import Annotated, overload

import numpy
import numpy.typing
from numpy.typing import NDArray


class RuleTrie:
    """The source sides of a grammar's rules; arrays as in GrammarColumns."""

    @overload
    def __init__(self, lhs: numpy.typing.NDArray[numpy.int32], level: numpy.typing.NDArray[numpy.uint8], source: numpy.typing.NDArray[numpy.int32], source_offsets: numpy.typing.NDArray[numpy.int64], target: numpy.typing.NDArray[numpy.int32], target_offsets: numpy.typing.NDArray[numpy.int64], words: numpy.typing.NDArray[numpy.int32], labels: numpy.typing.NDArray[numpy.int32]) -> None:
        """`words` and `labels` map the grammar's own ids to the shared ones."""

    @overload
    def __init__(self, lhs: numpy.typing.NDArray[numpy.int32], level: numpy.typing.NDArray[numpy.uint8], source: numpy.typing.NDArray[numpy.int32], source_offsets: numpy.typing.NDArray[numpy.int64], target: numpy.typing.NDArray[numpy.int32], target_offsets: numpy.typing.NDArray[numpy.int64], words: numpy.typing.NDArray[numpy.int32], labels: numpy.typing.NDArray[numpy.int32], index: Sequence[numpy.typing.NDArray[numpy.int32]]) -> None:
        """With the index that `rule_index` made of the columns, if it fits them."""

    def limited(self, estimates: numpy.typing.NDArray[numpy.float32], limit: int) -> RuleTrie:
        """
        A trie of the same columns with only the best rules of each source side, whatever their left-hand sides.
        """

    @property
    def nodes(self) -> int:
        """The number of nodes of the trie."""

    @property
    def bins(self) -> int:
        """The number of distinct pairs of source side and left-hand side."""

    @property
    def rules(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        The numbers of the applicable rules, ordered by source side and left-hand side.
        """

def rule_index(lhs: numpy.typing.NDArray[numpy.int32], level: numpy.typing.NDArray[numpy.uint8], source: numpy.typing.NDArray[numpy.int32], source_offsets: numpy.typing.NDArray[numpy.int64], labels: numpy.typing.NDArray[numpy.int32]) -> tuple[numpy.typing.NDArray[numpy.int32], ...]:
    """
    A trie in the columns' own ids, as arrays that can be cached: places, symbols, bins, unaries, order.
    `labels` gives for each label the first label equal to it.
    """

def rule_scores(features: numpy.typing.NDArray[numpy.int32], values: numpy.typing.NDArray[numpy.float32], offsets: numpy.typing.NDArray[numpy.int64], weights: numpy.typing.NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.float32]:
    """The weighted feature sum of each rule."""

class ParsedForest:
    """A sentence's forest and its rules, as arrays that it owns."""

    @property
    def complete(self) -> bool:
        """False if there were too many edges."""

    @property
    def nodes(self) -> numpy.typing.NDArray[numpy.int32]:
        """Label, first and last position of each node."""

    @property
    def node_bundles(self) -> numpy.typing.NDArray[numpy.int64]:
        """The offsets of each node's bundles."""

    @property
    def tail_offsets(self) -> numpy.typing.NDArray[numpy.int64]:
        """The offsets of each bundle's tails."""

    @property
    def tails(self) -> numpy.typing.NDArray[numpy.int32]:
        """Nodes, in the order of the rule's gaps."""

    @property
    def rule_offsets(self) -> numpy.typing.NDArray[numpy.int64]:
        """The offsets of each bundle's rules."""

    @property
    def rules(self) -> numpy.typing.NDArray[numpy.int32]:
        """Numbers of rules."""

    @property
    def target_offsets(self) -> numpy.typing.NDArray[numpy.int64]:
        """The offsets of each rule's target side."""

    @property
    def targets(self) -> numpy.typing.NDArray[numpy.int32]:
        """Words, or -1 - k for the k-th gap."""

    @property
    def scores(self) -> numpy.typing.NDArray[numpy.float32]:
        """Of each rule, with the features of arcs."""

    @property
    def origins(self) -> numpy.typing.NDArray[numpy.int32]:
        """The number of each rule, counted through all grammars."""

    @property
    def chains(self) -> numpy.typing.NDArray[numpy.int32]:
        """The link that each rule's chain of arc features ends with, or -1."""

    @property
    def links(self) -> numpy.typing.NDArray[numpy.int32]:
        """The link before, or -1, and the features."""

def parse_arcs(grammars: Sequence[tuple[RuleTrie, numpy.typing.NDArray[numpy.float32] | None, int | None, bool, bool]], arcs: numpy.typing.NDArray[numpy.int32], positions: int, feature_scores: numpy.typing.NDArray[numpy.float64], labels: int, goal: int, top: int, max_edges: int) -> ParsedForest:
    """
    Parse arcs (from, to, word or -1, features or -1) into a forest. A grammar is a trie, scores of its rules,
    the longest span, whether it applies only from position 0, and whether only to unknown arcs. With -1 for the
    goal the forest has all nodes.
    """

def text_slots(text: numpy.typing.NDArray[numpy.uint8], offsets: numpy.typing.NDArray[numpy.int64]) -> numpy.typing.NDArray[numpy.uint64]:
    """
    A hash table of texts, as an array that can be cached. Of equal texts the last counts.
    """

class PairIndex:
    """Look up phrase pairs, `source ||| target`, or phrases among texts."""

    def __init__(self, text: numpy.typing.NDArray[numpy.uint8], offsets: numpy.typing.NDArray[numpy.int64], slots: numpy.typing.NDArray[numpy.uint64]) -> None:
        """`slots` is the result of `text_slots` for the texts."""

    def find(self, sources: Sequence[str], targets: Sequence[str] | None) -> numpy.typing.NDArray[numpy.int32]:
        """
        The numbers of phrase pairs, or of phrases without targets; -1 for missing ones.
        """

    def find_rules(self, words: numpy.typing.NDArray[numpy.uint8], word_offsets: numpy.typing.NDArray[numpy.int64], source: numpy.typing.NDArray[numpy.int32], source_offsets: numpy.typing.NDArray[numpy.int64], target: numpy.typing.NDArray[numpy.int32], target_offsets: numpy.typing.NDArray[numpy.int64], chosen: numpy.typing.NDArray[numpy.int32], paired: bool) -> numpy.typing.NDArray[numpy.int32]:
        """
        The numbers of the `chosen` rows of columns as phrase pairs; of their source sides if not `paired`.
        """

def upper_envelope(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], slopes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
    """The start and index of each line of the envelope."""

def graph_envelope(graph: Graph, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], slopes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
    """
    The start, value and slope of each line, and derivations as offsets and edges.
    """

class ListSearch:
    """N-best lists with dense features, for searches along lines."""

    def __init__(self, lists: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], stats: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def surfaces(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], directions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        Offsets by direction, starts of intervals, sums of statistics, and the sums at t = 0.
        """

def summed_surface(items: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], stats: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """The summed statistics along one direction, from consecutive envelopes."""

class PhraseExtraction:
    """Extract the phrase pairs of word-aligned text into tables."""

    def __init__(self, max_length: int, orientations: Sequence[int], skip_bad: bool, count_words: bool, keep_lines: bool, memory: int, folder: str) -> None:
        """
        orientations: for word-based, phrase-based and hierarchical extraction 0 none, 1 monotonicity, 2 msd, 3 mslr.
        """

    def feed(self, source: bytes, target: bytes, links: bytes) -> None:
        """Feed whole lines, equally many of each side."""

    def pack(self) -> bytes:
        """
        The counts as bytes, which another extraction adds to its own; none may be on disk.
        """

    def add_packed(self, packed: bytes) -> None:
        """Add counts of an extraction with the same options."""

    def read_lexical(self, forward: bool, lines: bytes) -> None:
        """
        Add whole lines of a lexical table; forward: p(target word | source word).
        """

    def lexical(self, forward: bool) -> bytes:
        """The lines of a lexical table."""

    @property
    def sentences(self) -> int: ...

    @property
    def empty(self) -> int:
        """The number of pairs with an empty side."""

    @property
    def skipped(self) -> int:
        """The number of pairs with links outside the sentences."""

    @property
    def spilled(self) -> bool:
        """Whether counts went to disk."""

    def feed_stretches(self, source: bytes, target: bytes, links: bytes, stretches: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """
        Feed lines of which only these stretches are phrase pairs: rows of sentence pair (from 0, in this call), first and last source word, first and last target word, in the order of the pairs.
        """

    def take_lines(self) -> list[bytes]:
        """New lines of Moses' files extract, extract.inv and extract.o."""

    def count_lexical(self) -> None:
        """Make lexical tables from the counted words."""

    def finish(self, smoothing: int, tables: Sequence[tuple[int, Sequence[Sequence[int]], bool, bool, bool]], reordering_smoothing: float, penalty: float = 0.0) -> None:
        """
        Finish counting. smoothing: 0 none, 1 Good-Turing, 2 Kneser-Ney. tables: extraction, the orientations of each column, whether there are columns for the previous and the next phrase, and whether the target side counts. penalty: a last score of each phrase pair, unless it is 0.
        """

    def next(self, bytes: int) -> list[bytes] | None:
        """More lines of the phrase table and of each reordering table, or None."""

    @property
    def occurrences(self) -> int:
        """The number of phrase pair occurrences."""

    @property
    def pairs(self) -> int:
        """The number of distinct phrase pairs."""

class RuleLimits:
    """Limits of rules: see core.extract.hierarchical_rules."""

    def __init__(self, *, span: int, source_words: int, target_words: int, source_symbols: int, target_symbols: int, gaps: int, source_gap: int, target_gap: int, words: int, adjacent_source: bool, adjacent_target: bool, linked_word: bool, tight: bool, counts: int) -> None:
        """counts: 0 shares, 1 phrases, 2 places."""

class RuleExtraction:
    """Extract the rules of word-aligned text into a table."""

    def __init__(self, limits: RuleLimits, format: int, skip_bad: bool, count_words: bool, threads: int, memory: int, folder: str) -> None:
        """format: 0 Moses, 1 cdec, 2 Joshua."""

    def feed(self, source: bytes, target: bytes, links: bytes) -> None:
        """Feed whole lines, equally many of each side."""

    def pack(self) -> bytes:
        """
        The counts as bytes, which another extraction adds to its own; none may be on disk.
        """

    def add_packed(self, packed: bytes) -> None:
        """Add counts of an extraction with the same options."""

    def read_lexical(self, forward: bool, lines: bytes) -> None:
        """
        Add whole lines of a lexical table; forward: p(target word | source word).
        """

    def lexical(self, forward: bool) -> bytes:
        """The lines of a lexical table."""

    @property
    def sentences(self) -> int: ...

    @property
    def empty(self) -> int:
        """The number of pairs with an empty side."""

    @property
    def skipped(self) -> int:
        """The number of pairs with links outside the sentences."""

    @property
    def spilled(self) -> bool:
        """Whether counts went to disk."""

    def count_lexical(self) -> None:
        """
        Make lexical tables from the counted words, as the toolkit of the format does.
        """

    def finish(self) -> None:
        """Finish counting."""

    def next(self) -> bytes:
        """More lines of the table; empty at the end."""

    @property
    def rules(self) -> int:
        """The number of distinct rules."""

class Graph:
    """
    Nodes in topological order with the edges into each, the goal last. Scores are logs.
    """

    def __init__(self, edge_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tails: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], tail_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def nodes(self) -> int: ...

    @property
    def edges(self) -> int: ...

    @property
    def edge_offsets(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]: ...

    @property
    def tails(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]: ...

    @property
    def tail_offsets(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]: ...

    def inside(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], best: bool = False) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The sum (or the best) for each node."""

    def outside(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], inside: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], best: bool = False) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The sum (or the best) for each node."""

    def posteriors(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], inside: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """Expected counts of edges and of nodes."""

    def max_marginals(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], inside: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], outside: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """For each edge the best score of a derivation that contains it."""

    def paths(self) -> float:
        """The number of derivations."""

    def viterbi(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
        """
        The best derivation: scores, offsets, edges; empty if no derivation has a score.
        """

    def kbest(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], k: int, rules: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, target_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, target: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
        """
        The k best derivations: scores, offsets, edges. With rules, the best of k distinct texts.
        """

    def sample(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], count: int, seed: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
        """Sampled derivations: scores, offsets, edges."""

    def spell(self, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], edges: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rules: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
        """The words of derivations: offsets, words."""

    def moments(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[float, float, Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        log Z, the mean of the sum of values, the mean below each node, and edge coefficients for covariances.
        """

    def bundles(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """Offsets by node, offsets by bundle, edges."""

    def restricted(self, keep: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Graph, Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """The graph of the kept edges; its nodes and edges."""

    def intersect(self, rules: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], arc_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], arc_words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], arc_targets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], arc_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], finals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_edges: int) -> tuple[Graph, Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        The derivations whose words an acceptor accepts: graph, nodes, edges, states, weights.
        """

def sparse_scores(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    The weighted sum of each row of a sparse table: values times the weights of their columns.
    """

def sparse_sums(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    The weighted sum of each column of a sparse table: values times the weights of their rows.
    """

class LmState:
    """The words that a language model needs to score the next word."""

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    @property
    def words(self) -> list[int]:
        """The ids of the words, the latest first."""

class LmChartState:
    """
    A chart state: what a language model needs of a string to score the words before and after it.
    """

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    @property
    def open(self) -> int:
        """
        The number of first words whose probabilities may depend on preceding words.
        """

    @property
    def full(self) -> bool:
        """
        Whether the words after the string are independent of the words before it.
        """

    @property
    def words(self) -> list[int]:
        """
        The ids of the last words on which following words may depend, the latest first.
        """

class LanguageModel:
    """A back-off n-gram language model. Scores are log10."""

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""

    @property
    def counts(self) -> list[int]:
        """n-grams of each order, as the file's header has them."""

    @property
    def has_words(self) -> bool:
        """Whether the file has the words, and not only hashes."""

    @property
    def kind(self) -> str:
        """The kind of KenLM file that it is, or would be written as."""

    @property
    def vocabulary_size(self) -> int:
        """
        The number of words, <unk> included; ids run from 0 (<unk>) to one less.
        """

    def id(self, word: str) -> int:
        """The id of a word; 0 if it is not known."""

    def ids(self, words: list[str]) -> numpy.typing.NDArray[numpy.int32]:
        """The ids of many words."""

    def word(self, word_id: int) -> str:
        """The word of an id."""

    def score_sentences(self, sentences: list[str], bos: bool = True, eos: bool = True, threads: int = 1) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int32]]:
        """
        Each sentence's log10 probability and number of unknown words. Spaces and tabs separate words.
        """

    def score_ids(self, ids: numpy.typing.NDArray[numpy.int32], offsets: numpy.typing.NDArray[numpy.int64], bos: bool = True, eos: bool = True, threads: int = 1) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int32]]:
        """
        Score sentences of word ids: sentence i is ids[offsets[i]:offsets[i + 1]].
        """

    def full_scores(self, sentence: str, bos: bool = True, eos: bool = True) -> list[tuple[float, int, bool]]:
        """
        For each word its log10 probability, the length of the matched n-gram, and whether it is unknown.
        """

    def begin_state(self) -> LmState:
        """The state after <s>."""

    def null_state(self) -> LmState:
        """The state without words."""

    def score_word(self, state: LmState, word_id: int) -> tuple[float, LmState]:
        """
        The log10 probability of a word after a state, and the state after the word.
        """

    def states(self, size: int, bos: bool = True) -> numpy.typing.NDArray[numpy.int32]:
        """
        Begin states (null states without `bos`) as rows of an array. The first `order` numbers of a row, its length and words, identify the state; the rest are the bits of back-offs.
        """

    def step(self, states: numpy.typing.NDArray[numpy.int32], words: numpy.typing.NDArray[numpy.int32]) -> tuple[numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.int32]]:
        """
        The log10 probabilities of words, each after the state in its row, and the states after the words.
        """

    def score_rule(self, symbols: Sequence[int], gaps: Sequence[LmChartState] = (), bos: bool = False) -> tuple[float, LmChartState]:
        """
        The score of words (ids, 0 or more) and gaps (-1 - k stands for gaps[k]) beyond the gaps' own scores, and the state of the whole. `bos`: <s> precedes them.
        """

    def write_binary(self, path: str) -> None:
        """
        Write a KenLM probing file, which KenLM loads, too. A model from a KenLM file is written as it was.
        """

def load_binary(path: str, copy: bool = False) -> LanguageModel:
    """Map or copy a KenLM binary file of any kind."""

class ArpaReader:
    """Read an ARPA file fed in pieces of any size. Raises ArpaError."""

    def __init__(self) -> None: ...

    def feed(self, data: bytes) -> None: ...

    def finish(self) -> LanguageModel:
        """The language model; the reader is used up."""

class Vocabulary:
    """Strings numbered in order of first use."""

    def __init__(self) -> None: ...

    def __len__(self) -> int: ...

    def find(self, word: str) -> int:
        """The number of a string, or -1."""

    def id(self, word: str) -> int:
        """The number of a string; a new string gets the next number."""

    def ids(self, words: Iterable[str]) -> list[int]:
        """The numbers of many strings."""

    def ids_of_table(self, text: numpy.typing.NDArray[numpy.uint8], offsets: numpy.typing.NDArray[numpy.int64]) -> numpy.typing.NDArray[numpy.int32]:
        """The numbers of strings given as UTF-8 bytes."""

    def words_from(self, first: int) -> list[str]:
        """The strings from a number on."""

    def ids_in(self, model: LanguageModel, first: int = 0) -> numpy.typing.NDArray[numpy.int32]:
        """A language model's ids of the strings from a number on."""

def fragment_scores(model: LanguageModel, target: numpy.typing.NDArray[numpy.int32], offsets: numpy.typing.NDArray[numpy.int64], text: numpy.typing.NDArray[numpy.uint8], text_offsets: numpy.typing.NDArray[numpy.int64], markers: bool = True, threads: int = 1) -> numpy.typing.NDArray[numpy.float32]:
    """
    log10 probability of the words of each target side, summed over runs between gaps; `text` spells the words.
    """

class EstimatedModel:
    """An estimated model without its n-grams."""

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""

    def count(self, order: int) -> int:
        """The number of n-grams of an order."""

    @property
    def discounts(self) -> list[list[float]]:
        """
        For each order the discounts of adjusted counts of 1, 2, and 3 or more.
        """

    @property
    def fallen_back(self) -> list[int]:
        """The orders that use the fallback discounts."""

    @property
    def sentences(self) -> int:
        """The number of lines of the text."""

    @property
    def words(self) -> int:
        """The number of words of the text, without sentence ends."""

    @property
    def peak_bytes(self) -> int:
        """The peak memory of the estimation, in bytes."""

class KneserNeyModel(EstimatedModel):
    """An estimated model, as the lines of an ARPA file."""

    def rows(self, order: int, begin: int, end: int) -> bytes:
        """The lines of n-grams from begin to end."""

class StreamedKneserNeyModel(EstimatedModel):
    """An estimated model whose n-grams are in the folder it was spilled to."""

class StreamedRows:
    """
    Compute the probabilities of a streamed model, as the lines of an ARPA file.
    """

    def __init__(self, model: StreamedKneserNeyModel) -> None: ...

    def rows(self, order: int, begin: int, end: int) -> bytes:
        """
        The lines of n-grams from begin to end, to be asked for from the first to the last.
        """

class KneserNey:
    """
    Estimate a model from a text fed in pieces of any size, a sentence a line.
    """

    def __init__(self, order: int, prune: Sequence[int], fallback: Sequence[float] | None, memory: int, vocabulary_size: int = 0) -> None: ...

    def feed(self, data: bytes) -> None: ...

    def finish(self, vocabulary: Sequence[str] | None = None) -> KneserNeyModel:
        """
        The model; the object is used up. With a vocabulary, n-grams with other words are left out.
        """

    def spill(self, folder: str) -> None:
        """
        Go on in files in this empty folder, after feed() or finish() raised EstimateTooLarge.
        """

    def finish_streamed(self, vocabulary: Sequence[str] | None = None) -> StreamedKneserNeyModel:
        """The model, after spill()."""

def count_flags(flags: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """How many values of each part are marked."""

def target_order(target: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
    """Target sides with their gaps numbered in target order."""

class SearchForest:
    """A sentence's forest without stateful features, and its rules."""

    @staticmethod
    def of(labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], firsts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], lasts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], node_bundles: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tails: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], tail_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rules: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rule_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], rule_firsts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, rule_lasts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> SearchForest:
        """
        From columns: nodes, goal last; their bundles; tails and rules of bundles; targets and scores of rules, and the source words [first, last) that each rule itself translates, if known.
        """

    @staticmethod
    def of_parsed(parsed: ParsedForest, scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> SearchForest:
        """A parsed forest; `scores` replace the scores of its rules."""

    @property
    def nodes(self) -> int: ...

    @property
    def bundles(self) -> int: ...

    @property
    def edges(self) -> int: ...

class Scorer:
    """A stateful feature at work in a search."""

    @property
    def components(self) -> int:
        """The number of values for each edge."""

class LmScorer(Scorer):
    """log10 probabilities of a language model, <s> and </s> included."""

    def set_words(self, words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Set the model's ids of the words of target sides. Not during a search, as all changes of words.
        """

    def add_words(self, words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Append ids of further words."""

    def share_words(self, other: LmScorer) -> None:
        """
        Take the words of another scorer of the same model: shares those it was set to, copies those it appended.
        """

    @property
    def words(self) -> int:
        """The number of words it knows."""

def lm_scorer(model: LanguageModel, memo: bool = True, markers: bool = False, scale: float = 1.0) -> LmScorer: ...

class CallbackScorer(Scorer):
    """A scorer in Python: an object with prepare, combine and finish."""

    def __init__(self, object: object, components: int) -> None: ...

class Scorers(Scorer):
    """Several scorers as one."""

    def __init__(self, parts: Sequence[Scorer]) -> None: ...

class Refined:
    """A forest whose nodes have states of stateful features."""

    @property
    def node_of(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]:
        """The node of the searched forest that each node comes from."""

    @property
    def best(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """The score of each node's best derivation."""

    @property
    def node_bundles(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]: ...

    @property
    def tails(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]: ...

    @property
    def tail_offsets(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]:
        """Offsets of bundles."""

    @property
    def rules(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]:
        """Of each edge."""

    @property
    def rule_offsets(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]:
        """Offsets of bundles."""

    @property
    def edge_of(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]:
        """The edge of the searched forest that each edge comes from."""

    @property
    def scores(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """The score of each edge by itself."""

    @property
    def values(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), writable=False)]:
        """The values of stateful features: edges times components."""

    @property
    def pops(self) -> int: ...

    @property
    def evaluated(self) -> int:
        """The number of edges scored by stateful features."""

    @property
    def found(self) -> int:
        """The number of nodes before useless ones were dropped."""

    def derivation(self, forest: SearchForest) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32], float]:
        """The best derivation: its edges in preorder, its words, its score."""

class SearchOptions:
    """The options of searches with stateful features."""

    def __init__(self, **members: object) -> None: ...

    @property
    def exact(self) -> bool:
        """All derivations; pop_limit, adapt and beam are not used then."""

    @exact.setter
    def exact(self, arg: bool, /) -> None: ...

    @property
    def pop_limit(self) -> int:
        """Edges looked at for each node, negative for all."""

    @pop_limit.setter
    def pop_limit(self, arg: int, /) -> None: ...

    @property
    def adapt(self) -> float:
        """How fast that falls with what a node's best derivation lacks."""

    @adapt.setter
    def adapt(self, arg: float, /) -> None: ...

    @property
    def beam(self) -> float:
        """How far an edge may score below its node's best."""

    @beam.setter
    def beam(self, arg: float, /) -> None: ...

    @property
    def early_begin(self) -> bool:
        """The sentence begins where its first words are chosen."""

    @early_begin.setter
    def early_begin(self, arg: bool, /) -> None: ...

    @property
    def all_edges(self) -> bool:
        """Keep all derivations, not the best alone."""

    @all_edges.setter
    def all_edges(self, arg: bool, /) -> None: ...

    @property
    def max_edges(self) -> int:
        """Edges above which the search raises SearchLimit."""

    @max_edges.setter
    def max_edges(self, arg: int, /) -> None: ...

class Searcher:
    """Search one forest after another with stateful features."""

    def __init__(self, scorer: Scorer, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def search(self, forest: SearchForest, options: SearchOptions = ...) -> Refined: ...

    def score_words(self, words: numpy.typing.NDArray[numpy.int32]) -> numpy.typing.NDArray[numpy.float32]:
        """The values of a whole translation, from its words."""

class OrderFeature:
    """A feature of the order of phrases: distortion, or a reordering model."""

    def __init__(self, kind: str, backward: bool, forward: bool, collapse: bool, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def components(self) -> int: ...

    @property
    def columns(self) -> int:
        """The number of scores of a phrase pair in the model."""

class PhraseSearchOptions:
    """The options of phrase-based search; beams are in nats."""

    def __init__(self, **members: object) -> None: ...

    @property
    def cube(self) -> bool:
        """
        Cube pruning; else each hypothesis is extended with all phrases that may follow.
        """

    @cube.setter
    def cube(self, arg: bool, /) -> None: ...

    @property
    def stack_size(self) -> int:
        """Hypotheses kept in a stack, 0 for all."""

    @stack_size.setter
    def stack_size(self, arg: int, /) -> None: ...

    @property
    def beam(self) -> float:
        """How far a hypothesis may score below the best of its stack."""

    @beam.setter
    def beam(self, arg: float, /) -> None: ...

    @property
    def lm_beam(self) -> float:
        """The same with cube pruning, in nats of language models."""

    @lm_beam.setter
    def lm_beam(self, arg: float, /) -> None: ...

    @property
    def pop_limit(self) -> int:
        """Hypotheses that cube pruning makes for a stack."""

    @pop_limit.setter
    def pop_limit(self, arg: int, /) -> None: ...

    @property
    def stack_diversity(self) -> int:
        """Hypotheses kept for each coverage, whatever their score."""

    @stack_diversity.setter
    def stack_diversity(self, arg: int, /) -> None: ...

    @property
    def cube_diversity(self) -> int:
        """Hypotheses that cube pruning makes for each coverage."""

    @cube_diversity.setter
    def cube_diversity(self, arg: int, /) -> None: ...

    @property
    def option_beam(self) -> float:
        """How far a phrase may score below the best of its span."""

    @option_beam.setter
    def option_beam(self, arg: float, /) -> None: ...

    @property
    def early_discarding(self) -> float:
        """The beam before words are scored."""

    @early_discarding.setter
    def early_discarding(self, arg: float, /) -> None: ...

    @property
    def distortion_limit(self) -> int:
        """Longest jump, negative for any."""

    @distortion_limit.setter
    def distortion_limit(self, arg: int, /) -> None: ...

    @property
    def walls(self) -> list[int]:
        """Words of the sentence behind which stands a wall."""

    @walls.setter
    def walls(self, arg: Sequence[int], /) -> None: ...

    @property
    def zones(self) -> list[int]:
        """
        Words that must be finished once begun: the first, and the one behind the last.
        """

    @zones.setter
    def zones(self, arg: Sequence[int], /) -> None: ...

    @property
    def order(self) -> str:
        """free, window, monotone or swap."""

    @order.setter
    def order(self, arg: str, /) -> None: ...

    @property
    def all_edges(self) -> bool:
        """Keep all derivations, not the best alone."""

    @all_edges.setter
    def all_edges(self, arg: bool, /) -> None: ...

    @property
    def max_edges(self) -> int:
        """Hypotheses above which the search raises SearchLimit."""

    @max_edges.setter
    def max_edges(self, arg: int, /) -> None: ...

class PhraseGraph:
    """Hypotheses and the steps between them, the goal last."""

    @property
    def covered(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The number of source positions that each node covers."""

    @property
    def best(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The score of each node's best derivation."""

    @property
    def node_edges(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def tails(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def rules(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def firsts(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def lasts(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def scores(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The score of each edge by itself."""

    @property
    def values(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """The values of stateful features, edge by edge."""

    @property
    def path(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The edges of the best derivation, the first step first."""

    @property
    def nodes(self) -> int: ...

    @property
    def made(self) -> int:
        """The number of hypotheses created."""

    @property
    def asked(self) -> int:
        """The number of steps scored by stateful features."""

class PhraseSearcher:
    """Phrase-based search of one sentence after another."""

    def __init__(self, scorers: Sequence[tuple[Scorer, Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]]], orders: Sequence[OrderFeature]) -> None: ...

    def search(self, forest: SearchForest, rows: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]], distances: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, options: PhraseSearchOptions = ...) -> PhraseGraph: ...

class MetricReferences:
    """References of segments, for one metric."""

    @staticmethod
    def bleu(references: list[list[str]], order: int = 4) -> MetricReferences:
        """
        Rows: length, closest reference length, matches of each order, n-grams of each order.
        """

    @staticmethod
    def chrf(references: list[list[str]], characters: int = 6, words: int = 0, beta: float = 2.0, whitespace: bool = False, eps_smoothing: bool = False) -> MetricReferences:
        """
        Rows: for each order n-grams of the hypothesis, of the best reference, matches; characters first.
        """

    @staticmethod
    def error_rate(references: list[list[str]], characters: bool = False) -> MetricReferences:
        """
        Rows: edits and length of the reference with the fewest edits per word or character.
        """

    @staticmethod
    def ter(references: list[list[str]]) -> MetricReferences:
        """
        Rows: edits, with shifts, of the reference that needs the fewest; mean length of the references.
        """

    @staticmethod
    def gtm(references: list[list[str]], exponent: float = 1.0) -> MetricReferences:
        """Rows: match size, length, length of the reference with the best F."""

    def __len__(self) -> int: ...

    @property
    def width(self) -> int:
        """The length of a row."""

    def stats(self, hypotheses: list[str], segments: numpy.typing.NDArray[numpy.int32] | None = None, threads: int = 1) -> numpy.typing.NDArray[numpy.float64]:
        """
        A row for each hypothesis against the references of its segment; by default hypothesis i is of segment i.
        """

    def stats_of_ids(self, offsets: numpy.typing.NDArray[numpy.int64], ids: numpy.typing.NDArray[numpy.int32], segments: numpy.typing.NDArray[numpy.int32] | None = None, threads: int = 1) -> numpy.typing.NDArray[numpy.float64]:
        """
        A row for each hypothesis of word `numbers`: hypothesis i is ids[offsets[i]:offsets[i + 1]].
        """

    def numbers(self, words: list[str]) -> numpy.typing.NDArray[numpy.int32]:
        """The references' ids of words, -1 for words in no reference."""

    def matrix(self, hypotheses: list[str], threads: int = 1) -> numpy.typing.NDArray[numpy.float64]:
        """
        Rows of each hypothesis against each segment: hypotheses x segments x width.
        """

    def aggregate(self, hypotheses: list[str], weights: numpy.typing.NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.float64]:
        """
        A row for each hypothesis against the weighted mean of all references; for BLEU and chrF.
        """

def word_posteriors(words: numpy.typing.NDArray[numpy.int32], offsets: numpy.typing.NDArray[numpy.int64], probabilities: numpy.typing.NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.float64]:
    """
    For each word the probability of the texts that have it where a Levenshtein alignment puts it.
    """

def tokenize_13a(text: str) -> str:
    """
    The tokens of mteval-v13a with single blanks between them, as by sacrebleu's tokenizer 13a.
    """

def bleu_scores(stats: numpy.typing.NDArray[numpy.float64], order: int, smooth_method: str, smooth_value: float, effective_order: bool) -> numpy.typing.NDArray[numpy.float64]:
    """BLEU of each row."""

def chrf_scores(stats: numpy.typing.NDArray[numpy.float64], characters: int, words: int, beta: float, eps_smoothing: bool) -> numpy.typing.NDArray[numpy.float64]:
    """chrF of each row."""

class GainScorer(Scorer):
    """Fixed gains of words and of n-grams of references."""

    def __init__(self, references: Sequence[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]], gains: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def set_gain(self, ngram: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], gain: float) -> None:
        """Set the gain of an n-gram of the references. Not during a search."""

    def set_words(self, words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        The references' ids of the words of target sides, negative for none. Not during a search.
        """

class WordTexts:
    """The words of ids, for features in C."""

    def __init__(self) -> None: ...

    def add(self, first: int, words: list[str]) -> None:
        """
        Add words with the numbers from `first` on; numbers that have a word are skipped.
        """

    @property
    def serial(self) -> int: ...

    def __len__(self) -> int: ...

class TableScorer(Scorer):
    """The scorer of a feature in C, a function table (smt_feature.h)."""

    def __init__(self, capsule: object, name: str) -> None: ...

    def start(self, id: str, tokens: list[str], names: list[str], values: list[str], words: WordTexts) -> None:
        """
        Start this sentence for the next search; names and values are annotations.
        """

    @property
    def names(self) -> list[str]:
        """Names of the components."""
