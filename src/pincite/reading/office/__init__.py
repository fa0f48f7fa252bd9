"""Word, PowerPoint, Excel, OpenDocument and RTF, old and new."""
