"""Sentences in languages that are not wanted: what a language filter has to find.

Three small grammars of slots (German, Spanish, Italian), each good for tens of thousands of sentences. The subjects
are all in the third person singular and in the present, so that any of them goes with any verb.
"""

from __future__ import annotations

from random import Random

# language: the order of the slots, and their fillers
_GRAMMARS: dict[str, tuple[str, dict[str, str]]] = {
    "de": (
        "{who} {verb} {when} {what} {where}.",
        {
            "who": "Meine Schwester|Mein Bruder|Unser Nachbar|Die Lehrerin|Der alte Bäcker|Seine Großmutter|"
            "Die junge Ärztin|Mein bester Freund|Ihre Tochter|Der neue Kollege|Unsere Tante|Der Gärtner",
            "verb": "kauft|verkauft|sucht|braucht|findet|vergisst|bringt|zeigt uns|versteckt|repariert",
            "when": "jeden Morgen|heute Abend|am Wochenende|nach dem Mittagessen|immer wieder|manchmal|"
            "während der Ferien|vor der Arbeit|jeden zweiten Freitag|schon seit Stunden",
            "what": "einen grünen Regenschirm|das schwere Gepäck|die wichtigsten Unterlagen|einen großen Kuchen|"
            "frisches Gemüse|ein spannendes Buch|die neuen Schlüssel|zwei hölzerne Stühle|einen warmen Mantel|"
            "die alte Waschmaschine|ein gebrauchtes Fahrrad|mehrere kleine Geschenke",
            "where": "auf dem Markt|in der Nähe des Bahnhofs|zu Hause|gegenüber der Apotheke|im Büro|"
            "mit den Kindern zusammen|neben der großen Bibliothek|in einem kleinen Dorf|bei schönem Wetter|ohne Hilfe",
        },
    ),
    "es": (
        "{who} {verb} {what} {where} {when}.",
        {
            "who": "Mi hermana mayor|Nuestro vecino|La profesora|El viejo panadero|Su abuela|Mi mejor amigo|"
            "La joven enfermera|El nuevo jefe|Tu primo|Nuestra hija|El jardinero|Aquel señor",
            "verb": "compra|vende|busca|necesita|encuentra|olvida|siempre trae|nos enseña|esconde|quiere arreglar",
            "when": "todas las mañanas|esta noche|los fines de semana|después de comer|muy a menudo|"
            "durante las vacaciones|antes del trabajo|cada dos viernes|desde hace horas|cuando llueve",
            "what": "un paraguas verde|las maletas más pesadas|los papeles importantes|una tarta enorme|"
            "verduras frescas|un libro muy interesante|las llaves nuevas|dos sillas de madera|un abrigo caliente|"
            "la vieja lavadora|una bicicleta usada|varios regalos pequeños",
            "where": "en el mercado|cerca de la estación|en casa|enfrente de la farmacia|en la oficina|"
            "junto con los niños|al lado de la biblioteca|en un pueblo pequeño|sin ayuda de nadie|con mucho cuidado",
        },
    ),
    "it": (
        "{who} {verb} {what} {where} {when}.",
        {
            "who": "Mia sorella|Il nostro vicino|La maestra|Il vecchio fornaio|Sua nonna|Il mio migliore amico|"
            "La giovane infermiera|Il nuovo direttore|Tuo cugino|Nostra figlia|Il giardiniere|Quel signore",
            "verb": "compra|vende|cerca|vorrebbe|trova|dimentica|porta sempre|ci mostra|nasconde|deve aggiustare",
            "when": "tutte le mattine|questa sera|ogni fine settimana|dopo pranzo|molto spesso|durante le vacanze|"
            "prima del lavoro|un venerdì su due|da parecchie ore|quando piove",
            "what": "un ombrello verde|le valigie più pesanti|i documenti importanti|una torta enorme|"
            "della verdura fresca|un libro molto interessante|le chiavi nuove|due sedie di legno|un cappotto pesante|"
            "la vecchia lavatrice|una bicicletta usata|parecchi piccoli regali",
            "where": "al mercato|vicino alla stazione|a casa|di fronte alla farmacia|in ufficio|"
            "insieme ai bambini|accanto alla biblioteca|in un piccolo paese|senza nessun aiuto|con molta attenzione",
        },
    ),
}

LANGUAGES = tuple(_GRAMMARS)
_SLOTS = {
    language: (order, {slot: fillers.split("|") for slot, fillers in slots.items()})
    for language, (order, slots) in _GRAMMARS.items()
}


def sentence(language: str, rng: Random) -> str:
    """A sentence of 6 to 16 words in "de", "es" or "it"."""
    order, slots = _SLOTS[language]
    return order.format_map({slot: fillers[int(rng.random() * len(fillers))] for slot, fillers in slots.items()})
