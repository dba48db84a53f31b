"""Topic ids on disks, held against those of the cluster; what to do where they differ. Only edges touch anything."""
