"""The command line: a module per command, each a parser and one call of the Python face. Only it prints and exits."""
