"""Decoder configurations: the settings of a cdec.ini, a moses.ini or a joshua.config, in order."""
