"""What the applications share."""
