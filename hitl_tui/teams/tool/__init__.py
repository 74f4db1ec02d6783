"""Functions, LangChain tools and tools of MCP servers as teams."""
