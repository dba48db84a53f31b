"""Where nodes run: each occupant of this seam starts processes, and says at which addresses they can be reached."""
