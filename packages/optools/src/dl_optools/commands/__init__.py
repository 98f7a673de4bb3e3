"""Subcommands of ``dl`` that dl-optools adds; these modules import no torch."""
