"""Domain types of the server as workflow sources and the worker use them."""
