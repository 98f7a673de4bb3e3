"""Every operator against a reference: what is run again, how results are judged, what is said."""
