"""What makes classes of sources: a file each, registered under the name that `--builder` takes."""
