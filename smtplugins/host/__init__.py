"""The host: plugin loading, configuration, and the work that all plugins share. It knows no method by name."""
