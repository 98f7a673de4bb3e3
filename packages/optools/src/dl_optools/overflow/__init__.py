"""Detection of the operators where nan and inf first appear."""
