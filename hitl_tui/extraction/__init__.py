"""Text out of files of all formats, in blocks that can be cited by line or page."""
