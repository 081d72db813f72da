from itertools import pairwise
from smtplugins import feature
from smtplugins.host.contracts import SimpleStateful

@feature("article")
class Article(SimpleStateful):
    """How often `a` stands before a vowel, or `an` before another letter."""
    def combine_one(self, target, tails):
        words = [*tails, *(word for word in target if word != 0)]
        wrong = [one for one, two in pairwise(words) if one in ("a", "an") and (one == "an") != (two[0] in "aeiou")]
        return len(wrong), words[-1] if words else ""
