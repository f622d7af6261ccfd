"""Where text comes from: downloading it, and reading the archives of its publishers.

Nothing is imported here, so that reading an archive does not need what downloading needs.
"""
