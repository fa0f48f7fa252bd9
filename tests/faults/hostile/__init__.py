"""Files that mean harm or come to it, each made in code, with what reading it must end in."""
