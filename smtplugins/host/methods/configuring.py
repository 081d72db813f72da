"""Methods of the host for configurations: write a new one, show one with its keys."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from smtplugins.host.arguments import config_of, listed

if TYPE_CHECKING:
    from smtplugins.host.arguments import Overrides
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.config.tried_config import TriedConfig
    from smtplugins.host.files.opening import Path
    from smtplugins.host.host import AnySpec, Host

Note = Callable[[str], None]


class Configuring:
    """Write and check configurations."""

    def new_config(
        self,
        decoder: AnySpec,
        files: Path | Sequence[Path] = (),
        *,
        folder: Path = ".",
        values: Mapping[str, Any] | None = None,
        note: Note = lambda text: None,
    ) -> str:
        """Return a commented run.yaml for a decoder, with every key: set, to be filled in, or with its default.

        ``files`` are folders and files of tables, language models and reordering tables, such as `smt extract` and
        `smt lm` write; the decoder's usual features use them. ``folder`` is where the run.yaml will be: paths are
        relative to it. ``values`` sets further keys: ``{"source": "dev.de", "decoder.pop_limit": 100}``. ``note`` is
        told which files are not used and what must be filled in.
        """
        from smtplugins.contracts.spec import Spec
        from smtplugins.host.config.writing.new_config import new_config

        return new_config(cast("Host", self), Spec.of(decoder), listed(files), folder=folder, values=values, note=note)

    def show_config(
        self,
        config: Path | RunConfig,
        overrides: Overrides = (),
        *,
        load: bool = False,
        cache: str | None = None,
        ignore: str | Iterable[str] = (),
        folder: Path | None = None,
        note: Note = lambda text: None,
    ) -> str:
        """Check a configuration with its decoder's and features' options; return it as a run.yaml.

        The text has all keys that are set; settings of a toolkit that are not used are comments. Paths are absolute, or
        relative to ``folder``.
        With ``load`` its features, tables and decoder are loaded and the names of its weights checked, so that what is
        shown runs. Other arguments are those of :meth:`translator`.
        """
        from smtplugins.host.config.offered import check_offers
        from smtplugins.host.config.weight_names import check_names
        from smtplugins.host.decode.translator import make_translator

        host = cast("Host", self)
        record = config_of(config, overrides, ignore)
        if record.decoder is not None and load:
            check_names(make_translator(host, record, cache=cache, note=note).loaded(), [], note)
        elif record.decoder is not None:
            with record.at("decoder"):
                host.registry.check("decoders", record.decoder)
        check_offers(host, record)
        return record.shown(None if folder is None else pathlib.Path(folder))

    def check_config(
        self,
        config: Path | RunConfig,
        overrides: Overrides = (),
        *,
        sentences: Path | None = None,
        cache: str | None = None,
        ignore: str | Iterable[str] = (),
        note: Note = lambda text: None,
    ) -> TriedConfig:
        """Load a configuration and translate a sentence with it; return what was loaded, and the translation.

        The sentence is the first of ``sentences``, or made of words of the first table. Other arguments are those of
        :meth:`translator`.
        """
        from smtplugins.host.config.tried_config import try_config

        return try_config(cast("Host", self), config_of(config, overrides, ignore), sentences, cache, note)

    def config_schema(self) -> str:
        """Return the JSON schema of a run.yaml, with the names and options of the loaded plugins, for editors."""
        from smtplugins.host.config.writing.schema import config_schema

        return config_schema(cast("Host", self))
