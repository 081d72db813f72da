"""The host: hooks, plugins, contracts, configuration, and the jobs every plugin shares. It knows no method by name."""
