"""The base layer: errors, files, logging, progress, compiled code, versions of what rules write."""
