"""What may run: trust in workspaces, who approves, and which files an approval binds."""
