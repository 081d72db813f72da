"""The registry: every offer by kind and name, made on demand with checked options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from smtformats import Format
from smtformats.records import dataclass
from smtplugins.contracts.errors import PluginError, SmtError, UsageError
from smtplugins.contracts.offers import KINDS, Command, Offer, PluginInfo
from smtplugins.contracts.spec import Spec, arguments, build, parameters, suggestion
from smtplugins.host.errors import failure_text

_STANDARD = "smtplugins.plugins.standard"


@dataclass(frozen=True)
class Entry:
    """An offer, format or command and the plugin it came from."""

    record: Any
    plugin: PluginInfo


class Registry:
    """Offers by kind (``features``, ``metrics``, ...) and name."""

    def __init__(self, plugins: list[PluginInfo], gifts: Mapping[str, Any] | None = None) -> None:
        self._plugins = plugins
        self._gifts = dict(gifts or {})
        self._entries: dict[str, dict[str, Entry]] = {kind: {} for kind in KINDS}
        working = {plugin.origin: plugin for plugin in plugins if plugin.status == "ok"}
        self._standard = working.get(_STANDARD)
        self._own_formats = False

    def __reduce__(self) -> tuple[Any, ...]:
        from smtplugins.host.spread.loading import registry_again

        return registry_again, (self._gifts["loading"](),)

    def add(self, kind: str, record: Offer | Format | Command, plugin: PluginInfo) -> None:
        """Register a record; a name that its kind already has is an error that names both plugins."""
        if kind == "formats" and plugin is not self._standard:
            self._load_formats()
        # Commands of different plugins may share a name: they are called as `smt PLUGIN NAME`.
        key = f"{plugin.name} {record.name}" if isinstance(record, Command) else record.name
        old = self._entries[kind].get(key)
        if old is not None:
            raise PluginError(
                f"{KINDS[kind]} {record.name!r} is offered twice: by plugin {old.plugin.described()} and by plugin "
                f"{plugin.described()}; rename one, or switch one off with SMT_DISABLE_PLUGINS={plugin.name}"
            )
        self._entries[kind][key] = Entry(record, plugin)

    def _named(self, kind: str) -> dict[str, Entry]:
        if kind == "formats":
            self._load_formats()
        return self._entries[kind]

    def _load_formats(self) -> None:
        """Register the formats of the package smtformats, which are the standard plugin's, when they are needed."""
        from smtformats import all_formats

        if self._standard is None or self._own_formats:
            return
        self._own_formats = True
        for record in all_formats():
            self.add("formats", record, self._standard)
        self._standard.offers["formats"] = tuple(
            name for name, entry in sorted(self._entries["formats"].items()) if entry.plugin is self._standard
        )

    def formats(self, kinds: Iterable[str]) -> list[Format]:
        """The formats of some kinds, by name; of the package's own only these are imported."""
        from smtformats import formats_of

        found: dict[str, Format] = {}
        for kind in kinds:
            if self._standard is not None and not self._own_formats:
                found |= {record.name: record for record in formats_of(kind)}
            given = (entry.record for entry in self._entries["formats"].values())
            found |= {record.name: record for record in given if record.kind == kind}
        return [record for _, record in sorted(found.items())]

    def entries(self, kind: str) -> Iterator[Entry]:
        """All entries of a kind, by name."""
        for _, entry in sorted(self._named(kind).items()):
            yield entry

    def names(self, kind: str) -> list[str]:
        """All names of a kind."""
        return sorted(self._named(kind))

    def entry(self, kind: str, name: str) -> Entry:
        """The entry of this name; an unknown name lists what is known and what is broken."""
        found = self._named(kind).get(name)
        if found is not None:
            return found
        broken = [one for one in self._plugins if one.status == "broken"]
        for one in broken:
            if one.name == name:
                raise PluginError(f"{KINDS[kind]} {name!r}: plugin {one.described()} is broken: {one.reason}")
        text = f"unknown {KINDS[kind]} {name!r}{suggestion(name, self._entries[kind])}"
        if "did you mean" not in text:
            text += "; `--plugin FILE.py` loads one more plugin"
        for one in broken:
            text += f"\nplugin {one.described()}, which may have had it, is broken: {one.reason}"
        raise UsageError(text)

    def unavailable(self, offer: Offer) -> str:
        """Why an offer cannot be used now, or an empty string."""
        kinds = {singular: plural for plural, singular in KINDS.items()}
        lacking = []
        for other in offer.requires:
            kind, _, name = other.partition(":")
            if name not in self._named(kinds[kind]):
                lacking.append(other)
        return f"needs {', '.join(lacking)}" if lacking else ""

    def factory(self, kind: str, name: str) -> Callable[..., Any]:
        """The callable that makes an offer; a plugin whose module cannot be imported is an error that names it."""
        entry = self.entry(kind, name)
        offer: Offer = entry.record
        try:
            return offer.factory
        except (Exception, SystemExit) as error:
            what = f"{KINDS[kind]} {name!r} of plugin {entry.plugin.described()}"
            raise PluginError(f"{what} cannot be imported: {failure_text(error)}") from error

    def make(
        self,
        kind: str,
        spec: str | Mapping[str, Any] | Spec,
        without: tuple[str, ...] = (),
        given: Mapping[str, Any] | None = None,
    ) -> Any:
        """Build what a spec names; options in ``without`` are the caller's own and left out.

        ``given`` are values of the host (such as ``resources``) for factories with a parameter of that name, beside
        those for all of them (``note`` and ``score_cache``).
        """
        what, make, options = self._found(kind, spec, without)
        try:
            return build(what, make, options, {**self._gifts, **(given or {})})
        except SystemExit as stop:
            raise SmtError(f"{what} cannot be made: {failure_text(stop)}") from stop

    def check(self, kind: str, spec: str | Mapping[str, Any] | Spec, without: tuple[str, ...] = ()) -> None:
        """Check a spec as far as possible without building what it names: its options, alone and together."""
        arguments(*self._found(kind, spec, without))

    def _found(
        self, kind: str, spec: str | Mapping[str, Any] | Spec, without: tuple[str, ...]
    ) -> tuple[str, Callable[..., Any], dict[str, Any]]:
        parsed = Spec.of(spec)
        offer: Offer = self.entry(kind, parsed.name).record
        reason = self.unavailable(offer)
        if reason:
            raise PluginError(f"{KINDS[kind]} {parsed.name!r} is unavailable: {reason}")
        options = {key: value for key, value in parsed.options.items() if key not in without}
        what, make = f"{KINDS[kind]} {parsed.name!r}", self.factory(kind, parsed.name)
        if without:
            # The caller's own options may be what was meant.
            known = {*parameters(make), *without}
            for name in options:
                if name not in known:
                    raise UsageError(f"{what} has no option {name!r}{suggestion(name, known)}")
        return what, make, options
