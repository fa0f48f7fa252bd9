"""Files that people read line by line: their text stays as it is, so lines are the file's."""
