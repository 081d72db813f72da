"""The command line: a module per command, each a parser and one call of the host. Nothing else prints or exits."""
