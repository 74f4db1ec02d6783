"""What words mean: how common they are, and how alike texts are in any language."""
