"""What builds the site of the documentation."""
