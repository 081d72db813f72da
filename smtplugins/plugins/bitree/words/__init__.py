"""Word transduction: atoms, classifiers of translations, features and the decoder `bag`, and `smt bitree words`."""

from __future__ import annotations
