"""The command line: one module per command, each a parser and one call of the Python face. Only here are exits and prints."""
