"""What dl-optools adds to the command ``dl``; these modules import no torch."""
