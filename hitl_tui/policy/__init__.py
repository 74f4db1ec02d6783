"""What may run: trust in workspaces, and what a folder says that nobody trusts yet."""
