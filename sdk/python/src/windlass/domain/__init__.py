"""The nouns of the service as workflow sources and the worker see them."""
