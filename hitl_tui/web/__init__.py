"""The console in a web browser, on this machine alone."""
