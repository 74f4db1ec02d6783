"""What each kind of event does to a draft; `core.fold` holds the table."""
