"""How fast a model embeds, beside its peers.

:mod:`psp.speed.run` measures; each system is held by a process of its own (:mod:`psp.speed.worker`), which imports this
package and therefore finds nothing in it that takes time or memory.
"""
