"""Programs for all sizes: unification of two recordings at different sizes, and its proof."""
