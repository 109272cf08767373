"""What an update costs here and elsewhere, measured side by side."""
