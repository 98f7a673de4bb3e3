"""What tests of vendors that compute by libraries have in common."""
