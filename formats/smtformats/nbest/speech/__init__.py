"""N-best lists of speech recognisers and the tools around them, one module per format."""
