"""The documentation site: pages of the repository, and references generated at build time.

``tools/nox -s docs`` builds it into ``build/site``. ``docs/pages.yaml`` lists its pages.
"""
