"""Text as people write it and text as models have it: characters, tokens and case of a sentence.

`host.estimate` prepares corpora with it, `host.decode` the sentences to translate.
"""

from __future__ import annotations
