"""`smt bitree compare`: tables 7.2 to 7.5 of Wellington, Turian and Melamed (2009)."""

from __future__ import annotations
