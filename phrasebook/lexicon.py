"""The words of the phrasebook, in English and in French.

Entries are parted by ``;``, synonyms by commas, and the first English one names the concept; ``=`` stands between the
languages, and ``[kinds]`` opens a group. Irregular plurals follow a slash. A French noun ends with its gender; a French
adjective has its feminine behind a slash (else plus e) and then the form before a vowel, ``+`` where it precedes its
noun, and ``=`` where it never changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from phrasebook import english, french

NOUNS_ = """
[name person] Marie = Marie f; Paul = Paul m; Sophie = Sophie f; Thomas = Thomas m; Julie = Julie f; Nicolas = Nicolas
m; Claire = Claire f; Antoine = Antoine m; Emma = Emma f; Lucas = Lucas m; Alice = Alice f
[kin person] mother, mum = mère f, maman f; father, dad = père m, papa m; sister = sœur f; brother = frère m; husband =
mari m, époux m; wife/wives = femme f, épouse f; son = fils m; daughter = fille f; uncle = oncle m, tonton m; aunt,
auntie = tante f, tata f; cousin = cousin m; nephew = neveu m; niece = nièce f; grandmother, grandma, granny =
grand-mère/grands-mères f, mamie f; friend, pal, buddy = ami m, copain m; grandfather, grandpa, granddad =
grand-père/grands-pères m, papi m; neighbour = voisin m; boss, manager = patron m, chef m; colleague, coworker,
workmate = collègue m; flatmate, roommate = colocataire m
[staff person] teacher, instructor = professeur m, enseignant m; doctor, physician = médecin m, docteur m; nurse =
infirmière f; lawyer, attorney = avocat m; police officer, cop = policier m, agent de police m; waiter = serveur m;
baker = boulanger m; journalist, reporter = journaliste m, reporter m; engineer = ingénieur m; farmer = agriculteur m,
fermier m; singer, vocalist = chanteuse f; mechanic = mécanicien m, garagiste m; hairdresser = coiffeuse f; tourist,
holidaymaker = touriste m, vacancier m; customer, shopper = client m; gardener = jardinier m; writer, author = écrivain
m, auteur m; painter, artist = peintre m, artiste m
[food mass] bread = pain m; cheese = fromage m; meat = viande f; fish/fish = poisson m; rice = riz m; butter = beurre
m; chocolate = chocolat m; fruit = fruit m; ham = jambon m; honey = miel m; jam = confiture f; salad = salade f
[food] apple = pomme f; egg = œuf m; cake = gâteau m; biscuit, cookie = biscuit m; potato/potatoes = pomme de terre f;
sandwich = sandwich m; orange = orange f; tomato/tomatoes = tomate f; carrot = carotte f; strawberry = fraise f
[dish] soup = soupe f, potage m; omelette = omelette f; pizza = pizza f; stew, casserole = ragoût m; pie = tarte f;
pancake = crêpe f; meal = repas m; dessert, sweet = dessert m
[drink mass] coffee = café m; tea = thé m; water = eau f; milk = lait m; wine = vin m; beer = bière f; juice = jus m;
lemonade = limonade f, citronnade f
[clothes small] coat = manteau m; shirt = chemise f; dress = robe f; skirt = jupe f; jacket = veste f, blouson m; hat =
chapeau m; scarf/scarves = écharpe f, foulard m; jumper, sweater, pullover = pull m, chandail m; glove = gant m; tie =
cravate f; sock = chaussette f; belt = ceinture f
[device fragile] computer = ordinateur m; telephone, phone = téléphone m; camera = appareil photo m; television, telly
= télévision f, téléviseur m; radio = radio f; printer = imprimante f; watch = montre f; fridge, refrigerator = frigo
m, réfrigérateur m; oven = four m; lamp = lampe f; washing machine = machine à laver f
[furniture] table = table f; chair = chaise f; bed = lit m; sofa, couch = canapé m, divan m; desk = bureau m; wardrobe
= armoire f; mirror = miroir m, glace f; carpet, rug = tapis m; bookcase = bibliothèque f; armchair = fauteuil m
[vehicle] car, automobile = voiture f, auto f; bicycle, bike = vélo m, bicyclette f; motorbike, motorcycle = moto f;
lorry, truck = camion m; boat = bateau m; van = camionnette f; tractor = tracteur m
[transport] train = train m; bus = bus m, autobus m; plane, aeroplane = avion m; ferry = ferry m; taxi, cab = taxi m
[print small] book = livre m, bouquin m; newspaper, paper = journal/journaux m; magazine = magazine m, revue f; novel =
roman m; map = carte f, plan m; dictionary = dictionnaire m; comic = bande dessinée f, BD/BD f
[text] letter = lettre f, courrier m; report = rapport m, compte rendu m; article = article m; email = courriel m, mail
m; message, note = message m, mot m; poem = poème m; speech = discours m; contract = contrat m
[task] work, job = travail/travaux m, boulot m; exam, test = examen m, épreuve f; project = projet m; exercise =
exercice m; lesson, class = leçon f, cours m; homework/homework = devoir m
[idea] problem = problème m; question = question f; rule = règle f; plan = plan m; answer, reply = réponse f; joke =
blague f, plaisanterie f; word = mot m; address = adresse f; decision = décision f; mistake, error = erreur f
[subject mass] history = histoire f; music = musique f; chemistry = chimie f; biology = biologie f; law = droit m;
French = français m; English = anglais m; geography = géographie f; philosophy = philosophie f; art = art m
[animal] dog, hound = chien m; cat = chat m; horse = cheval/chevaux m; bird = oiseau m; rabbit = lapin m; cow = vache
f; sheep/sheep = mouton m; donkey = âne m; duck = canard m; pig = cochon m, porc m; hen, chicken = poule f; goat =
chèvre f
[small] key = clé f; wallet, purse = portefeuille m; umbrella, brolly = parapluie m; bag = sac m; ring = bague f;
ticket = billet m; passport = passeport m; glasses case = étui à lunettes m; pen = stylo m; toy = jouet m
[tool fragile] hammer = marteau m; ladder = échelle f; saw = scie f; knife/knives = couteau m; brush = brosse f,
pinceau m; spade, shovel = pelle f; bucket, pail = seau m; axe = hache f
[fragile gift] vase = vase m; glass = verre m; plate = assiette f; cup, mug = tasse f; bowl = bol m; candle = bougie f
[parcel opening] parcel, package = colis m, paquet m; suitcase = valise f; envelope = enveloppe f; box = boîte f
[opening] window = fenêtre f; door = porte f; gate = portail m; drawer = tiroir m; garage = garage m
[room] kitchen = cuisine f; bedroom = chambre f; bathroom = salle de bains f; living room, lounge = salon m, séjour m;
office = bureau m; cellar, basement = cave f; garden = jardin m; attic, loft = grenier m
[sight building] castle = château m; museum = musée m; church = église f; bridge = pont m; tower = tour f; cathedral =
cathédrale f; temple = temple m; zoo = zoo m
[sight] mountain = montagne f; lake = lac m; waterfall = cascade f; island, isle = île f; beach = plage f; forest, wood
= forêt f, bois m; river = rivière f; village = village m
[trip] holiday, vacation = séjour m; journey, trip = voyage m; party, celebration = fête f, soirée f; wedding = mariage
m; meeting = réunion f; concert = concert m; picnic = pique-nique m; hotel room = chambre d'hôtel f
[film] film, movie = film m; match, game = match m, rencontre f; documentary = documentaire m; show = spectacle m; play
= pièce f; programme = émission f; series/series = série f
[song] song = chanson f; lullaby = berceuse f; tune, melody = air m, mélodie f; carol = cantique m
[hobby] stamp = timbre m; coin = pièce de monnaie f; shell = coquillage m; postcard = carte postale f; stone = caillou
m
"""

ADJECTIVES_ = """
[food dish drink] delicious, tasty = délicieux/délicieuse, savoureux/savoureuse; cold, chilled = froid; excellent,
superb = excellent, exquis
[clothes] elegant, stylish, smart = élégant, chic/chic; blue = bleu; red = rouge/rouge; black = noir; warm = chaud
[clothes device furniture vehicle tool small room] new, brand-new = +nouveau/nouvelle/nouvel, neuf/neuve; old =
+vieux/vieille/vieil; small, little = +petit; big, large = +grand, +gros/grosse; beautiful, lovely, pretty =
+beau/belle/bel, +joli
[device vehicle furniture clothes trip] expensive, costly, pricey = cher/chère, coûteux/coûteuse; cheap = =bon marché
[print text film song idea sight task] interesting, fascinating, absorbing = intéressant, passionnant; boring, dull,
tedious = ennuyeux/ennuyeuse, barbant; famous, well-known = célèbre/célèbre, connu
[text task idea] important, significant = important, essentiel/essentielle; urgent, pressing = urgent; difficult, hard,
tough = difficile/difficile, ardu; easy, simple = facile/facile, simple/simple
[animal] white = blanc/blanche; young = +jeune/jeune; small; big; brown = brun
[sight building room] huge, enormous = immense/immense, énorme/énorme; tiny = minuscule/minuscule; magnificent,
splendid, gorgeous = magnifique/magnifique, splendide/splendide
[trip film] unforgettable, memorable = inoubliable/inoubliable, mémorable/mémorable; wonderful, marvellous =
merveilleux/merveilleuse, formidable/formidable
[fragile gift opening parcel] broken, damaged = abîmé, endommagé; green = vert; heavy = lourd
"""

# Verbs: English = French ; the kinds of their objects ; determiners ; "state": nothing that one decides to do.
VERBS_ = """
[shopping]
buy, purchase = acheter ; food clothes device furniture vehicle print gift ; a this
sell = vendre ; vehicle furniture device animal ; own the
choose, pick, select = choisir, sélectionner ; clothes gift furniture print ; a the
order = commander ; clothes device dish drink ; a
try on = essayer ; clothes ; a the this
borrow = emprunter ; tool vehicle print ; a the
bring back, return = rapporter, ramener ; clothes tool print ; the this
pay for = payer ; dish trip vehicle ; the this
[food]
eat, devour = manger, dévorer ; food dish ; a
drink, sip = boire, siroter ; drink ; a
cook, prepare = cuisiner, préparer ; dish ; a the
taste, try, sample = goûter, déguster ; dish food drink ; the this
cut, slice = couper, trancher ; food ; the this
serve = servir ; dish drink ; the
like, enjoy = aimer, apprécier ; food drink subject song ; generic ; state
hate, detest, loathe = détester, exécrer ; food drink subject animal ; generic ; state
[home]
clean = nettoyer ; room furniture vehicle ; the own
wash = laver ; clothes vehicle fragile ; the own
repair, fix, mend = réparer ; device vehicle tool furniture ; the own this
paint = peindre, repeindre ; room furniture opening ; the
open = ouvrir ; opening ; the this
close, shut = fermer, refermer ; opening ; the
break, smash = casser, briser ; fragile ; a the own
lose, mislay = perdre, égarer ; small ; own the
find, discover = trouver, découvrir ; small animal ; a the
look for, search for = chercher, rechercher ; small animal tool ; own the
hide, conceal = cacher, dissimuler ; small gift parcel ; the own
move, shift = déplacer, bouger ; furniture parcel ; the
throw away, throw out = jeter ; clothes furniture print ; the own
[work]
write = écrire, rédiger ; text ; a the
read = lire ; print text ; a the this
send, post, mail = envoyer, expédier ; text parcel ; a the
finish, complete = finir, terminer ; text task ; the own
begin, start = commencer, entamer ; task text ; the this
explain, clarify = expliquer, clarifier ; idea task ; the this
forget = oublier ; idea small ; the own
check, verify = vérifier, contrôler ; text idea ; the this
translate = traduire ; text print ; the this
[study]
study = étudier, approfondir ; subject ; generic
learn = apprendre ; subject song ; generic
teach = enseigner ; subject ; generic
understand, grasp = comprendre, saisir ; idea text ; the this ; state
[people]
meet, run into = rencontrer, croiser ; person ; own the
invite = inviter, convier ; person ; own the
help, assist = aider, assister ; person ; own the
thank = remercier ; person ; own the
phone, call, ring = appeler ; person ; own the
wait for, await = attendre, guetter ; person transport ; own the
know = connaître ; person building ; own the ; state
photograph = photographier ; person animal sight ; own the
[travel]
visit, tour = visiter ; sight ; the this
drive = conduire ; vehicle ; the own
rent, hire = louer ; vehicle tool room ; a
book, reserve = réserver ; trip transport ; a the
cancel, call off = annuler ; trip task ; the own
plan, organise = planifier, organiser ; trip ; a the
miss = manquer, rater ; transport film ; the
[leisure]
watch = regarder ; film ; a the this
sing, hum = chanter, fredonner ; song ; a the
draw, sketch = dessiner, esquisser ; animal sight ; a the
feed = nourrir ; animal ; the own
collect = collectionner ; hobby print ; generic
listen to = écouter ; song ; a the this
build, construct = construire, fabriquer ; furniture gift ; a
"""

PLACES_ = """
[shopping] at the market = au marché; in town, downtown = en ville, au centre-ville; on the internet, online = sur
internet, en ligne; at the shop, at the store = au magasin, à la boutique; near the station = près de la gare
[food] in the kitchen = dans la cuisine; at home = à la maison, chez soi; at the restaurant = au restaurant; in the
canteen, in the cafeteria = à la cantine; on the balcony = sur le balcon
[home] at home = à la maison; upstairs = à l'étage; downstairs = au rez-de-chaussée; in the flat, in the apartment =
dans l'appartement; in the country house = dans la maison de campagne
[work] at the office = au bureau; on the train = dans le train; in the library = à la bibliothèque; at work = au
travail
[study] at school = à l'école; at university = à l'université, à la fac; in the library = à la bibliothèque; during the
summer course = pendant le stage d'été
[people] at the station = à la gare; at the airport = à l'aéroport; in the street = dans la rue; at the party = à la
fête; in front of the town hall = devant la mairie
[travel] in Paris = à Paris; in Brittany = en Bretagne; abroad = à l'étranger; in the south = dans le sud; at the
seaside, by the sea = au bord de la mer
[leisure] in the park = dans le parc, au parc; in the countryside = à la campagne; in the garden = dans le jardin; at
the village hall = à la salle des fêtes; at a friend's house = chez un ami
"""

TIMES_ = """
[past] yesterday = hier; last week = la semaine dernière; this morning = ce matin; two days ago = il y a deux jours,
avant-hier; last year = l'année dernière, l'an dernier; a long time ago, ages ago = il y a longtemps; on Monday evening
= lundi soir; during the holidays = pendant les vacances; recently, lately = récemment, dernièrement
[present] every day = tous les jours, chaque jour; often, frequently = souvent, fréquemment; at weekends = le week-end;
in the evening = le soir; from time to time, now and then = de temps en temps, parfois; rarely, seldom = rarement;
every winter = tous les hivers, chaque hiver; on Sundays = le dimanche; nowadays, these days = de nos jours,
actuellement
[future] tomorrow = demain; next week = la semaine prochaine; tonight, this evening = ce soir; soon, shortly = bientôt,
sous peu; in three days = dans trois jours; next month = le mois prochain; after lunch = après le déjeuner; on Saturday
morning = samedi matin; before the holidays = avant les vacances
"""

MANNERS_ = """
[any] quickly, fast = rapidement, vite; carefully, with care = avec soin, soigneusement; without hesitation = sans
hésiter; with pleasure, gladly = avec plaisir, volontiers; alone, without help = sans aide; in silence, quietly = en
silence; once more, again = encore une fois, à nouveau; by mistake, accidentally = par erreur, par mégarde
"""

# What is said of someone in a second clause: English with "be" or "have", French with être or avoir.
STATES_ = """
[any] be tired, be exhausted = être @fatigué, être @épuisé; be hungry = avoir faim; be in a hurry = être @pressé; be
happy, be glad = être @heureux/heureuse, être @content; be ill, be sick = être @malade/malade, être @souffrant; be late
= être en retard; be worried, be anxious = être @inquiet/inquiète, être @anxieux/anxieuse; be curious = être
@curieux/curieuse; be angry, be furious = être en colère, être @furieux/furieuse; have a lot of time = avoir beaucoup
de temps; be afraid, be scared = avoir peur; have no money = être sans argent
"""

OPENERS_ = """
[any] I think that, I believe that, I reckon that = je pense que, je crois que; fortunately, luckily = heureusement,
par chance; unfortunately, sadly = malheureusement, hélas; I am sure that, I am certain that = j'ai la certitude que;
people say that, they say that = on dit que, les gens disent que; of course, naturally = bien sûr, naturellement;
everyone knows that, everybody knows that = tout le monde sait que, chacun sait que; to my great surprise, to my
astonishment = à ma grande surprise, à mon grand étonnement
"""

# Verbs that take another one, by tense. In French "~" marks the imparfait, "?" the conditional.
MODALS_ = """
[present] want = want to, would like to, wish to = vouloir, souhaiter, ?vouloir; must = must, have to, need to =
devoir; can = can, be able to = pouvoir; hope = hope to = espérer; intend = intend to, plan to, mean to = compter,
envisager de
[past] want = want to, wish to = ~vouloir, ~souhaiter; must = have to, need to = devoir; decide = decide to, choose to
= décider de, choisir de; try = try to, attempt to = essayer de, tenter de; refuse = refuse to, decline to = refuser
de; promise = promise to, swear to = promettre de, jurer de
"""


class Noun(NamedTuple):
    """English (one, several) and French (one, several, gender) names."""

    english: tuple[tuple[str, str], ...]
    french: tuple[tuple[str, str, str], ...]
    countable: bool


class Adjective(NamedTuple):
    """A French adjective: its forms ms, mv (before a vowel), fs, mp and fp, and whether it precedes its noun."""

    forms: dict[str, str]
    before: bool


class Phrase(NamedTuple):
    """What may be said in each language."""

    english: tuple[str, ...]
    french: tuple[str, ...]


def words(text: str) -> tuple[str, ...]:
    """Synonyms; commas within an opener's own words are none here."""
    return tuple(word.strip() for word in text.split(","))


def groups(text: str) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """The kinds of each group, and its entries."""
    for kinds, body in re.findall(r"\[([^\]]+)\]([^\[]*)", text):
        yield tuple(kinds.split()), [" ".join(one.split()) for one in body.split(";") if one.strip()]


def french_adjective(text: str) -> Adjective:
    """An adjective with all its forms."""
    before, fixed = text[0] == "+", text[0] == "="
    male, _, rest = text.lstrip("+=").partition("/")
    if fixed:
        return Adjective(dict.fromkeys(("ms", "mv", "fs", "mp", "fp"), male), before)
    female, _, vowel = rest.partition("/")
    female = female or male + "e"
    forms = {"ms": male, "mv": vowel or male, "fs": female, "mp": french.plural(male), "fp": female + "s"}
    return Adjective(forms, before)


def _noun(entry: str, countable: bool) -> Noun:
    left, right = entry.split(" = ")
    one_en = [word.partition("/") for word in words(left)]
    one_fr = [(*word[:-2].partition("/"), word[-1]) for word in words(right)]
    return Noun(
        tuple((one, many or english.plural(one)) for one, _, many in one_en),
        tuple((one, many or french.plural(one), gender) for one, _, many, gender in one_fr),
        countable,
    )


def _phrases(text: str) -> dict[str, dict[str, Phrase]]:
    return {
        kinds[0]: {
            words(left)[0]: Phrase(words(left), words(right)) for left, right in (e.split(" = ") for e in entries)
        }
        for kinds, entries in groups(text)
    }


NOUNS: dict[str, Noun] = {}
#: The nouns of each kind, and the adjectives of each noun.
NOUN_KINDS: dict[str, list[str]] = {}
for _kinds, _entries in groups(NOUNS_):
    for _entry in _entries:
        _name = words(_entry.split(" = ")[0])[0].partition("/")[0]
        NOUNS[_name] = _noun(_entry, "mass" not in _kinds)
        for _kind in _kinds:
            NOUN_KINDS.setdefault(_kind, []).append(_name)
ADJECTIVES: dict[str, tuple[tuple[str, ...], tuple[Adjective, ...]]] = {}
NOUN_ADJECTIVES: dict[str, list[str]] = {}
for _kinds, _entries in groups(ADJECTIVES_):
    for _entry in _entries:
        _left, _, _right = _entry.partition(" = ")
        _name = words(_left)[0]
        if _right:
            ADJECTIVES[_name] = words(_left), tuple(map(french_adjective, words(_right)))
        for _noun_ in dict.fromkeys(noun for kind in _kinds for noun in NOUN_KINDS[kind]):
            NOUN_ADJECTIVES.setdefault(_noun_, []).append(_name)
PLACES, TIMES = _phrases(PLACES_), _phrases(TIMES_)
MANNERS, STATES, OPENERS = _phrases(MANNERS_)["any"], _phrases(STATES_)["any"], _phrases(OPENERS_)["any"]
#: By name and tense.
MODALS = {
    (name, kinds[0]): Phrase(words(left), words(right))
    for kinds, entries in groups(MODALS_)
    for name, left, right in (entry.split(" = ") for entry in entries)
}
