"""Adjectives, numbers, modal verbs, and words that open or link clauses: each line is ``English = French``.

An adjective's French forms are ``masculine/feminine/masculine before a vowel``; the feminine defaults to the masculine
plus e. ``+`` marks an adjective that precedes its noun, ``=`` an invariable one. In a French verb phrase ``@`` marks an
adjective that agrees with the subject. Synonyms are separated by commas, the first English one names the concept, and a
line with only a known concept adds it to another ``[group]``.
"""

from __future__ import annotations

# [kinds of noun they describe]; the kinds of nouns.py.
ADJECTIVES = """
[food drink meal dish]
delicious, tasty = délicieux/délicieuse, savoureux/savoureuse
cold, chilled = froid
excellent, superb = excellent, exquis
[food]
fresh = frais/fraîche
organic = =bio, biologique/biologique
[clothes]
elegant, stylish, smart = élégant, chic/chic
blue = bleu
red = rouge/rouge
black = noir
green = vert
warm = chaud
comfortable, comfy = confortable/confortable
[clothes device furniture vehicle household luggage tool rented]
new, brand-new = +nouveau/nouvelle/nouvel, neuf/neuve
old = +vieux/vieille/vieil
small, little = +petit
big, large = +grand, +gros/grosse
expensive, costly, pricey = cher/chère, coûteux/coûteuse
second-hand, used = =d'occasion
beautiful, lovely, pretty = +beau/belle/bel, +joli
[gift personal fragile]
beautiful
small
expensive
[reading watched play picture heard]
interesting, fascinating, absorbing = intéressant, passionnant
boring, dull, tedious = ennuyeux/ennuyeuse, barbant
sad, gloomy = triste/triste
funny, amusing, hilarious = drôle/drôle, amusant
famous, well-known, renowned = célèbre/célèbre, connu
[written school exam]
long, lengthy = +long/longue
short, brief = court, +bref/brève
[written file]
important, significant = important, essentiel/essentielle
urgent, pressing = urgent
[school exam explained]
difficult, hard, tough = difficile/difficile, ardu
easy, simple, straightforward = facile/facile, simple/simple
[animal]
small
big
white = blanc/blanche
black
young = +jeune/jeune
[building sight roomnoun]
modern, contemporary = moderne/moderne, contemporain
huge, enormous = immense/immense, énorme/énorme
tiny = minuscule/minuscule
magnificent, splendid, gorgeous = magnifique/magnifique, splendide/splendide
[trip gathering]
unforgettable, memorable = inoubliable/inoubliable, mémorable/mémorable
wonderful, marvellous = merveilleux/merveilleuse, formidable/formidable
tiring, exhausting = fatigant, épuisant
"""

# What someone or something is: complements of "be". [kinds]
COMPLEMENTS = """
[feeling]
tired, exhausted, worn out = fatigué, épuisé
happy, glad, delighted = heureux/heureuse, content, ravi
sad, unhappy, miserable = triste/triste, malheureux/malheureuse
worried, anxious, uneasy = inquiet/inquiète, anxieux/anxieuse
angry, furious, mad = furieux/furieuse, =en colère, fâché
surprised, astonished, amazed = surpris/surprise, étonné
ill, sick, unwell = malade/malade, souffrant
disappointed, let down = déçu
nervous, tense = nerveux/nerveuse, tendu
proud = fier/fière
[trait]
kind, nice = gentil/gentille, aimable/aimable
lazy, idle = paresseux/paresseuse, fainéant
clever, intelligent, bright, smart = intelligent, brillant
shy, timid = timide/timide, réservé
brave, courageous = courageux/courageuse, brave/brave
polite, courteous = poli, courtois
stubborn, obstinate = têtu, obstiné
generous = généreux/généreuse
rich, wealthy, well-off = riche/riche, fortuné
careful, cautious = prudent
talkative, chatty = bavard
[job]
a dentist = dentiste/dentiste
an architect = architecte/architecte
a pharmacist, a chemist = pharmacien/pharmacienne
an actor = comédien/comédienne, acteur/actrice
a librarian = bibliothécaire/bibliothécaire
a firefighter = pompier/pompier
a musician = musicien/musicienne
a translator = traducteur/traductrice
a lawyer, an attorney = avocat
a hairdresser = coiffeur/coiffeuse
[goods]
too expensive, overpriced = trop cher/trop chère
cheap, inexpensive = =bon marché, =pas cher
very old = très vieux/très vieille, très ancien/très ancienne
very heavy = très lourd
damaged, ruined = abîmé, endommagé
very fragile, very delicate = très fragile/très fragile
really beautiful, truly lovely = vraiment beau/vraiment belle, vraiment joli
too big, too large = trop grand
too small = trop petit
very useful, very handy = très utile/très utile, très pratique/très pratique
[taste]
too salty = trop salé
too sweet = trop sucré
too hot = trop chaud
very tasty, delicious = très bon/très bonne, délicieux/délicieuse
ready = prêt
cold = froid
[opinion]
very interesting, fascinating = très intéressant, passionnant
too long = trop long/trop longue
rather boring, pretty dull = plutôt ennuyeux/plutôt ennuyeuse, assez barbant
quite hard, rather difficult = assez difficile/assez difficile, plutôt dur
very funny, hilarious = très drôle/très drôle, très amusant
famous all over the world, known throughout the world = =célèbre dans le monde entier, =mondialement \
    connu/mondialement connue
[condition]
clean, spotless = propre/propre, impeccable/impeccable
dirty, filthy = sale/sale, =d'une saleté repoussante
closed, shut = fermé
empty, deserted = vide/vide, désert
full of people, crowded, packed = bondé, =plein de monde/pleine de monde
"""

# What opens a sentence. [tenses it goes with]
OPENERS = """
[past future present now]
I think that, I believe that, I reckon = je pense que, je crois que
I am sure that, I am certain that, I am convinced that = je suis @sûr que, je suis @certain que, je suis @convaincu que
people say that, they say that = on dit que, les gens disent que
everyone knows that, everybody knows that = tout le monde sait que, chacun sait que
I heard that, I was told that = j'ai entendu dire que, on m'a dit que
it seems that, apparently, = il paraît que, apparemment,
fortunately, luckily = heureusement, par chance
unfortunately, sadly = malheureusement, hélas
maybe, perhaps = peut-être que
to my great surprise, to my astonishment = à ma grande surprise, à mon grand étonnement
I wonder whether, I wonder if = je me demande si
I do not know whether, I have no idea if = je ne sais pas si, j'ignore si
of course, naturally = bien sûr, naturellement
my mother says that, according to my mother, = ma mère dit que, selon ma mère,
the newspaper says that, according to the newspaper, = le journal dit que, d'après le journal,
[past]
I remember that = je me souviens que, je me rappelle que
in the end, eventually = finalement, en fin de compte
[future]
I hope that = j'espère que
"""

# Amounts and ages. Words, since digits tell a language identifier nothing.
NUMBERS = """
one = un
two = deux
three = trois
four = quatre
five = cinq
six = six
seven = sept
eight = huit
nine = neuf
ten = dix
eleven = onze
twelve = douze
thirteen = treize
fourteen = quatorze
fifteen = quinze
sixteen = seize
twenty = vingt
twenty-five = vingt-cinq
thirty = trente
forty = quarante
fifty = cinquante
sixty = soixante
eighty = quatre-vingts
ninety = quatre-vingt-dix
a hundred = cent
two hundred = deux cents
three hundred = trois cents
five hundred = cinq cents
a thousand = mille
"""

# Verbs that take another verb; "-ing" takes the gerund. In French "~" marks the imparfait, "?" the conditional.
MODALS = """
[want present]
want to, would like to, wish to = vouloir, souhaiter, avoir envie de, ?vouloir, ?aimer
[want past]
want to, wish to = ~vouloir, ~avoir envie de, ~souhaiter
[must present]
must, have to, need to = devoir, être @obligé de
[must past]
have to, need to = ~devoir, devoir
[can present]
can, be able to = pouvoir, être @capable/capable de
[can past]
can, be able to = pouvoir
[intend present]
intend to, plan to, mean to = avoir l'intention de, compter, envisager de
[intend past]
intend to, plan to, mean to = ~avoir l'intention de, ~compter, ~envisager de
[hope present]
hope to = espérer
[like present]
like to, enjoy -ing = aimer, aimer bien
[decide past]
decide to, choose to = décider de, choisir de
[try past]
try to, attempt to = essayer de, tenter de
[forget past]
forget to, neglect to = oublier de
[begin past]
begin to, start -ing = commencer à, se mettre à
[refuse past]
refuse to, decline to = refuser de
[manage past]
manage to, succeed in -ing = réussir à, parvenir à
[promise past]
promise to, swear to = promettre de, jurer de
[stop past]
stop -ing, give up -ing = arrêter de, cesser de
[fear present]
be afraid of -ing, be scared of -ing = avoir peur de
[glad present]
be glad to, be happy to = être @content de, être @heureux/heureuse de
"""

# What is said when a second clause follows.
LINKS = """
because, since, as = parce que, car, puisque
but, even though, although = mais, même si
to, in order to, so as to = pour, afin de
"""
