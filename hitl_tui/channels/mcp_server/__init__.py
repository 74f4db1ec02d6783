"""Task checkpoints for programs that speak MCP: agents ask there, and approvers' clients answer."""
