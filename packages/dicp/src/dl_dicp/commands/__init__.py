"""Commands that ``dl`` gets. None imports torch before it runs."""
