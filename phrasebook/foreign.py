"""Sentences in languages that are not wanted: what a language filter has to find.

Two small grammars of slots (German, Spanish). The subjects
are all in the third person singular and in the present, so that any of them goes with any verb.
"""

from __future__ import annotations

from random import Random

# language: the fillers of each slot
_GRAMMARS: dict[str, tuple[str, ...]] = {
    "de": (
        "Meine Schwester|Unser Nachbar|Die Lehrerin|Der alte Bäcker|Seine Großmutter|Mein bester Freund|Der Gärtner",
        "kauft|verkauft|sucht|braucht|findet|vergisst|zeigt uns|versteckt|repariert",
        "jeden Morgen|heute Abend|am Wochenende|nach dem Mittagessen|manchmal|schon seit Stunden",
        "einen grünen Regenschirm|das schwere Gepäck|frisches Gemüse|ein spannendes Buch|zwei hölzerne Stühle",
        "auf dem Markt.|in der Nähe des Bahnhofs.|zu Hause.|mit den Kindern zusammen.|in einem kleinen Dorf.",
    ),
    "es": (
        "Mi hermana mayor|Nuestro vecino|La profesora|El viejo panadero|Su abuela|Mi mejor amigo|El jardinero",
        "compra|vende|busca|necesita|encuentra|olvida|nos enseña|esconde|quiere arreglar",
        "un paraguas verde|las maletas más pesadas|verduras frescas|un libro muy interesante|dos sillas de madera",
        "en el mercado|cerca de la estación|en casa|junto con los niños|en un pueblo pequeño",
        "todas las mañanas.|esta noche.|después de comer.|muy a menudo.|durante las vacaciones.|desde hace horas.",
    ),
}

LANGUAGES = tuple(_GRAMMARS)


def sentence(language: str, rng: Random) -> str:
    """A sentence of 6 to 16 words in "de" or "es"."""
    return " ".join(rng.choice(slot.split("|")) for slot in _GRAMMARS[language])
