"""Teams of kind `agent`: a chat model that works with declared tools."""
