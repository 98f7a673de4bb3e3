"""Programs for all sizes: what two recordings at different sizes have in common, and its proof."""
