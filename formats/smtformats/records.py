"""Dataclasses without compiled comparisons: making them takes half as long, and a command's start makes a hundred.

``dataclass`` is the standard library's with the same meaning, except that equality, hash and representation are shared
functions. Only constructors, and what refuses assignments to frozen records, are compiled for each class. Records that
are compared by the million, as rules are, stay with the standard library: shared functions take 40 ns longer.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import operator
    from reprlib import recursive_repr

    def dataclass(cls=None, /, *, eq=True, repr=True, **options):
        """Make a dataclass; methods that the class defines stay, as with the standard library's."""

        def make(cls):
            own = dict(vars(cls))
            made = dataclasses.dataclass(eq=False, repr=False, **options)(cls)
            fields = dataclasses.fields(made)
            made.__dataclass_params__.eq, made.__dataclass_params__.repr = eq, repr
            if repr and "__repr__" not in own:
                made.__repr__ = _representation([field.name for field in fields if field.repr])
            if not eq:
                return made
            if "__eq__" not in own:
                made.__eq__ = _equality([field.name for field in fields if field.compare])
            # A class that defines equality alone has None.
            if own.get("__hash__") is None and ("__hash__" not in own or "__eq__" in own):
                hashed = [field.name for field in fields if (field.compare if field.hash is None else field.hash)]
                made.__hash__ = _hash(hashed) if options.get("frozen") else None
            return made

        return make if cls is None else make(cls)

    def _values(names):
        """A function that returns a record's values of these fields as a tuple."""
        if len(names) > 1:
            return operator.attrgetter(*names)
        return lambda record: tuple([getattr(record, name) for name in names])

    def _representation(names):
        @recursive_repr()
        def representation(self):
            values = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
            return f"{self.__class__.__qualname__}({values})"

        return representation

    def _equality(names):
        values = _values(names)

        def equal(self, other):
            if other.__class__ is not self.__class__:
                return NotImplemented
            return values(self) == values(other)

        return equal

    def _hash(names):
        values = _values(names)

        def hashed(self):
            return hash(values(self))

        return hashed
