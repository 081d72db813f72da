"""Building blocks of decoders: tables and features of a run, parsing options, forests of sentences, workers."""

from __future__ import annotations

from smtplugins.host.config.loaded_passes import LoadedPass
from smtplugins.host.config.override import kept_options
from smtplugins.host.config.resources import Resources
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.decode.built_steps import BuiltTree, children, rule_text, sides
from smtplugins.host.decode.forest_decoding import BestFeatures, ForestDecoder, unknown_words
from smtplugins.host.decode.lattices import holds_both
from smtplugins.host.decode.parsing import SentenceForest, SentenceParser, WeightedParser
from smtplugins.host.decode.parsing_options import MARKS, NO_LIMIT, GrammarOptions, ParsingOptions
from smtplugins.host.decode.phrase_decoding import PhraseDecoder, PhraseWorker, check_phrases
from smtplugins.host.decode.phrase_options import PhraseOptions, PhraseTableOptions, StackOptions, nats
from smtplugins.host.decode.sentences import read_sentences, read_source, target_of
from smtplugins.host.decode.statistics import Times, added
from smtplugins.host.decode.threads import in_order
from smtplugins.host.decode.translator import Translator, make_translator

__all__ = [
    "MARKS",
    "NO_LIMIT",
    "BestFeatures",
    "BuiltTree",
    "ForestDecoder",
    "GrammarOptions",
    "LoadedPass",
    "ParsingOptions",
    "PhraseDecoder",
    "PhraseOptions",
    "PhraseTableOptions",
    "PhraseWorker",
    "Resources",
    "RuleTable",
    "SentenceForest",
    "SentenceParser",
    "StackOptions",
    "Times",
    "Translator",
    "WeightedParser",
    "added",
    "check_phrases",
    "children",
    "holds_both",
    "in_order",
    "kept_options",
    "make_translator",
    "nats",
    "read_sentences",
    "read_source",
    "rule_text",
    "sides",
    "target_of",
    "unknown_words",
]
