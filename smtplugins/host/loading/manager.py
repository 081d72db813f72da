"""Finding, loading and setting aside plugins. ``load_plugins()`` gives the host, which is passed down, never global."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from smtplugins.contracts import hookspecs
from smtplugins.contracts.errors import PluginError
from smtplugins.contracts.hookspecs import PROJECT
from smtplugins.contracts.offers import Command, Offer, PluginInfo
from smtplugins.host.errors import failure_text
from smtplugins.host.loading.installed import installed_plugins

if TYPE_CHECKING:
    import pluggy

    from smtplugins.host.host import Host

_FILE = "smt_plugin_"
"""What names of modules begin with that are plugin files."""


def names_in(variable: str) -> list[str]:
    """A comma-separated environment variable."""
    return [name.strip() for name in os.environ.get(variable, "").split(",") if name.strip()]


def load_plugins(
    extra: Iterable[str | Path | ModuleType] = (),
    *,
    disable: Iterable[str] = (),
    score_cache: str | Path | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> Host:
    """Load all installed plugins, then ``SMT_PLUGINS``, then ``extra`` (files, module names or modules).

    A plugin that fails to load is set aside with its reason, unless it was asked for by name in ``extra``.
    ``SMT_DISABLE_PLUGINS=a,b`` and ``disable`` switch plugins off; ``SMT_TRACE_PLUGINS=1`` prints hook calls.
    ``score_cache`` is the folder of scores that commands and models computed before, or ``off`` (default:
    ``$SMT_SCORE_CACHE``, or ``smtplugins/scores`` in ``$XDG_CACHE_HOME`` or ``~/.cache``). ``note`` is told what the
    user should know about features and metrics, such as that kept scores are used.
    """
    given, off = [*names_in("SMT_PLUGINS"), *extra], {*disable, *names_in("SMT_DISABLE_PLUGINS")}
    return load_given(given, off, score_cache=score_cache, note=note)


def load_given(
    given: Sequence[str | Path | ModuleType],
    disable: Iterable[str],
    *,
    score_cache: str | Path | None,
    note: Callable[[str], None] = lambda text: None,
) -> Host:
    """Load all installed plugins but those switched off, then the given ones, whatever the environment names."""
    from smtplugins.host.host import Host

    return Host(_Loader({*disable}).load(given), given, score_cache=score_cache, note=note)


def _manager(base: type[pluggy.PluginManager]) -> pluggy.PluginManager:
    """A manager that looks at the functions of a module without pluggy's careful search of each attribute."""

    class Manager(base):  # type: ignore[valid-type, misc]
        def parse_hookimpl_opts(self, plugin: Any, name: str) -> Any:
            if isinstance(plugin, ModuleType):
                value = vars(plugin).get(name)
                if isinstance(value, FunctionType):
                    return vars(value).get(f"{PROJECT}_impl")
                # The other kinds of callables that pluggy takes for hooks.
                if not isinstance(value, (MethodType, classmethod, staticmethod)):
                    return None
            return super().parse_hookimpl_opts(plugin, name)

    made: pluggy.PluginManager = Manager(hookspecs.PROJECT)
    return made


class _Loader:
    def __init__(self, disabled: set[str]) -> None:
        import pluggy

        self.disabled = disabled
        self.infos: list[PluginInfo] = []
        self.records: list[tuple[str, Any, PluginInfo]] = []
        self.hooks = {hook.__name__ for hook in hookspecs.HOOKS}
        self.manager = _manager(pluggy.PluginManager)
        self.manager.add_hookspecs(_specs(hookspecs.HOOKS))
        if os.environ.get("SMT_TRACE_PLUGINS", "") not in ("", "0"):
            self.manager.trace.root.setwriter(sys.stderr.write)
            self.manager.enable_tracing()

    def load(self, extra: Sequence[str | Path | ModuleType]) -> _Loader:
        for point in installed_plugins():
            info = PluginInfo(point.name, point.package, point.version, point.value)
            self._enter(info)
            if info.status != "disabled":
                try:
                    module = point.load()
                    if not isinstance(module, ModuleType):
                        raise TypeError(f"expected a module, found {module!r}")
                except (Exception, SystemExit) as error:
                    self._set_aside(info, error)
                else:
                    self._register(module, info, strict=False)
        for wanted in extra:
            self._load_named(wanted)
        return self

    def _enter(self, info: PluginInfo) -> None:
        for other in self.infos:
            if other.name == info.name:
                raise PluginError(
                    f"two plugins are named '{info.name}': {other.origin} of {other.described()} and {info.origin} of "
                    f"{info.described()}; rename or uninstall one"
                )
        self.infos.append(info)
        if info.name in self.disabled:
            info.status, info.reason = "disabled", "switched off by name"

    def _set_aside(self, info: PluginInfo, error: BaseException) -> None:
        info.status = "broken"
        info.reason = failure_text(error)
        self.records = [record for record in self.records if record[2] is not info]

    def _load_named(self, wanted: str | Path | ModuleType) -> None:
        if isinstance(wanted, ModuleType):
            module, name = wanted, wanted.__name__.rpartition(".")[2]
            if name.startswith(_FILE):
                name = Path(module.__file__ or name).stem
        else:
            module, name = _import_named(wanted)
        info = PluginInfo(name, "", "", getattr(module, "__file__", None) or module.__name__)
        self._enter(info)
        if info.status != "disabled":
            self._register(module, info, strict=True)

    def _register(self, module: ModuleType, info: PluginInfo, *, strict: bool) -> None:
        self._check_hooks(module, info)
        try:
            self.manager.register(module, info.name)
            info.hooks = tuple(sorted(caller.name for caller in self.manager.get_hookcallers(module) or []))
            found = list(self._fire(module, info.hooks))
            if not found and not info.hooks:
                raise ValueError("it offers nothing: no @hookimpl function and no @feature in it")
        except (Exception, SystemExit) as error:
            if strict:
                raise PluginError(f"plugin {info.described()} failed: {failure_text(error)}") from error
            if self.manager.get_plugin(info.name) is module:
                self.manager.unregister(module)
            self._set_aside(info, error)
            return
        for kind, record in found:
            self.records.append((kind, record, info))
            info.offers[kind] = (*info.offers.get(kind, ()), record.name)

    def _check_hooks(self, module: ModuleType, info: PluginInfo) -> None:
        from smtplugins.contracts.spec import suggestion

        for name, value in vars(module).items():
            if not callable(value):
                continue
            marked = self.manager.parse_hookimpl_opts(module, name) is not None
            if marked and name not in self.hooks:
                raise PluginError(
                    f"plugin {info.described()} implements {name!r}, which is no hook of smtplugins"
                    f"{suggestion(name, self.hooks)}"
                )
            if name in self.hooks and not marked:
                raise PluginError(f"plugin {info.described()}: {name!r} lacks @hookimpl")
            if name.startswith("smt_") and not marked and getattr(value, "__module__", None) == module.__name__:
                raise PluginError(
                    f"plugin {info.described()}: {name!r} lacks @hookimpl and is no hook of smtplugins"
                    f"{suggestion(name, self.hooks)}"
                )

    def _fire(self, module: ModuleType, hooks: Iterable[str]) -> Iterable[tuple[str, Any]]:
        from smtformats import Format
        from smtplugins.host.loading.shortcut import marked_offers

        others = [plugin for plugin in self.manager.get_plugins() if plugin is not module]
        for hook in hooks:
            kind = hook.removeprefix("smt_")
            wanted = {"formats": Format, "commands": Command}.get(kind, Offer)
            for records in self.manager.subset_hook_caller(hook, others)():
                for record in records or ():
                    if not isinstance(record, wanted):
                        raise TypeError(f"{hook} yields {wanted.__name__} records, found {record!r}")
                    yield kind, record
        for offer in marked_offers(module):
            yield "features", offer


def _specs(hooks: Iterable[Any]) -> ModuleType:
    """The hook functions, marked for pluggy, in a new module: ``contracts/hookspecs.py`` itself does without pluggy."""
    import pluggy

    mark = pluggy.HookspecMarker(PROJECT)
    module = ModuleType("smtplugins_hooks")
    for hook in hooks:
        setattr(module, hook.__name__, mark(hook))
    return module


def module_name(path: Path) -> str:
    """The name of the module that a plugin file becomes."""
    import hashlib

    return f"{_FILE}{path.stem}_{hashlib.sha256(os.fsencode(path)).hexdigest()[:8]}"


def import_file(path: Path, name: str) -> ModuleType:
    """Import a file as the module of this name."""
    import importlib.util

    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _import_named(wanted: str | Path) -> tuple[ModuleType, str]:
    text = os.fspath(wanted)
    try:
        if not text.endswith(".py"):
            import importlib

            return importlib.import_module(text), text.rpartition(".")[2]
        path = Path(text).resolve()
        if not path.is_file():
            raise PluginError(f"plugin file {text}: no such file")
        module = import_file(path, module_name(path))
    except PluginError:
        raise
    except ModuleNotFoundError as error:
        if error.name == text:
            raise PluginError(f"plugin {text!r}: no such module; the name of a plugin file ends in .py") from None
        raise PluginError(f"plugin {text!r} cannot be imported: {failure_text(error)}") from error
    except (Exception, SystemExit) as error:
        raise PluginError(f"plugin {text!r} cannot be imported: {failure_text(error)}") from error
    return module, path.stem
