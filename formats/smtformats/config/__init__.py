"""Configurations of decoders: what a cdec.ini, a moses.ini and a joshua.config set, line by line."""
