"""``dl dicp test``: compare compiled and eager runs of operators and models on one device."""
