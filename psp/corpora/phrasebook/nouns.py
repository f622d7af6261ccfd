"""The nouns of the phrasebook: what each is called in English and in French.

``[kinds number]`` opens a group. ``kinds`` say where the nouns may stand (templates name kinds), ``number`` is one of
``count`` (the default), ``mass``, ``plural`` (both languages), ``en-plural`` (trousers, pantalon) and ``fr-plural``
(homework, devoirs). A line is ``English synonyms = French synonyms``, each French one followed by its gender; an
irregular plural follows a slash. The first English word names the concept.
"""

from __future__ import annotations

NOUNS = """
[kin relative person]
mother, mum = mère f, maman f
father, dad = père m, papa m
sister = sœur f
brother = frère m
husband = mari m, époux m
wife/wives = femme f, épouse f
son = fils m
daughter = fille f
uncle = oncle m, tonton m
aunt, auntie = tante f, tata f
cousin = cousin m
nephew = neveu m
niece = nièce f
grandmother, grandma, granny = grand-mère f, mamie f
grandfather, grandpa, granddad = grand-père m, papi m
friend, pal, buddy = ami m, copain m
neighbour = voisin m
boss, manager = patron m, chef m
colleague, coworker, workmate = collègue m
flatmate, roommate = colocataire m
[kin person plural]
parents = parents m
grandparents = grands-parents m
children, kids = enfants m
friends, pals = amis m, copains m
neighbours = voisins m
colleagues, coworkers = collègues m
cousins = cousins m
[staff person]
teacher, instructor = professeur m, enseignant m
doctor, physician = médecin m, docteur m
nurse = infirmière f
lawyer, attorney = avocat m
police officer, cop = policier m, agent de police m
waiter = serveur m
baker = boulanger m
journalist, reporter = journaliste m, reporter m
engineer = ingénieur m
farmer = agriculteur m, fermier m
singer, vocalist = chanteuse f
mechanic = mécanicien m, garagiste m
hairdresser = coiffeuse f
tourist, holidaymaker = touriste m, vacancier m
customer, shopper = client m
gardener = jardinier m
writer, author = écrivain m, auteur m
painter, artist = peintre m, artiste m
secretary, assistant = secrétaire f, assistante f
principal, headmaster = directeur m
plumber = plombier m
[staff person plural]
students = étudiants m
pupils, schoolchildren = élèves m, écoliers m
tourists, holidaymakers = touristes m, vacanciers m
guests = invités m
employees, workers = employés m, salariés m
players = joueurs m
customers, shoppers = clients m
[specialist]
dentist = dentiste m
specialist = spécialiste m
doctor
vet = vétérinaire m
[company]
company, firm = entreprise f, société f
factory, plant = usine f
bank = banque f
[hired]
engineer
salesman/salesmen, sales assistant = vendeur m
accountant, bookkeeper = comptable m
cook, chef = cuisinier m
[patient plural]
patients = patients m, malades m
wounded, injured people = blessés m
[food mass]
bread = pain m
cheese = fromage m
meat = viande f
chicken = poulet m
fish = poisson m
soup = soupe f, potage m
rice = riz m
jam = confiture f
ice cream = glace f
chocolate = chocolat m
[food fr-plural]
pasta = pâtes f
[food]
apple = pomme f
cake = gâteau m
pie = tarte f
egg = œuf m
sandwich = sandwich m
biscuit, cookie = biscuit m, gâteau sec/gâteaux secs m
omelette = omelette f
pancake = crêpe f
pizza = pizza f
salad = salade f
[food vegetable]
potato, spud = pomme de terre f, patate f
carrot = carotte f
tomato = tomate f
mushroom = champignon m
[dish mass]
roast chicken = poulet rôti m
fish soup = soupe de poisson f
vegetable soup = soupe de légumes f
beef stew = ragoût de bœuf m
mashed potato = purée f
[meal mass]
dinner, supper = dîner m, repas du soir m
lunch = déjeuner m, repas de midi m
breakfast = petit-déjeuner m
[baked]
birthday cake = gâteau d'anniversaire m
apple pie = tarte aux pommes f
chocolate cake = gâteau au chocolat m
[drink mass]
coffee = café m
tea = thé m
water = eau f
milk = lait m
wine = vin m
beer = bière f
orange juice = jus d'orange m
lemonade = limonade f
[clothes]
dress = robe f
coat, overcoat = manteau m, pardessus m
shirt = chemise f
hat = chapeau m
skirt = jupe f
jacket = veste f, blouson m
sweater, jumper, pullover = pull m, chandail m
suit = costume m
tie, necktie = cravate f
swimsuit, bathing suit = maillot de bain m
scarf/scarves = écharpe f, foulard m
[clothes plural]
shoes = chaussures f, souliers m
boots = bottes f
gloves = gants m
[clothes en-plural]
trousers, pants = pantalon m
jeans = jean m
[device]
computer, PC = ordinateur m, PC m
camera = appareil photo/appareils photo m
television, TV set = télévision f, télé f, téléviseur m
printer = imprimante f
radio = radio f
tablet = tablette f
screen, monitor = écran m, moniteur m
keyboard = clavier m
[device household]
fridge, refrigerator = réfrigérateur m, frigo m
washing machine, washer = machine à laver f, lave-linge/lave-linge m
vacuum cleaner, hoover = aspirateur m
oven = four m
lamp, light = lampe f
alarm clock = réveil m
[furniture]
chair, seat = chaise f, siège m
sofa, couch = canapé m, sofa m
bed = lit m
desk = bureau m
bookcase, bookshelf/bookshelves = bibliothèque f, étagère f
wardrobe, closet = armoire f, placard m
carpet, rug = tapis m
mirror = miroir m
mattress = matelas m
[vehicle]
car, automobile = voiture f, auto f
bicycle, bike = vélo m, bicyclette f
motorcycle, motorbike = moto f, motocyclette f
truck, lorry = camion m
boat = bateau m
van = camionnette f, fourgonnette f
[transport]
train = train m
bus, coach = bus m, car m
plane, aircraft/aircraft = avion m
ferry = ferry m, bac m
underground, subway = métro m
taxi, cab = taxi m
[reading print]
book = livre m, bouquin m
novel = roman m
newspaper = journal m, quotidien m
magazine = magazine m, revue f
[reading]
article = article m
poem = poème m
story, tale = histoire f, conte m
[written]
letter = lettre f
report = rapport m, compte rendu/comptes rendus m
essay = dissertation f, rédaction f
email = courriel m, e-mail m
postcard = carte postale/cartes postales f
contract, agreement = contrat m
application form = formulaire m
[booked]
hotel room = chambre d'hôtel f
plane ticket, airline ticket = billet d'avion m
train ticket = billet de train m
flight = vol m
[trip]
trip, journey = voyage m
outing, excursion = excursion f, sortie f
[rented]
flat, apartment = appartement m, logement m
house = maison f
holiday cottage = gîte m
[personal plural]
keys = clés f
glasses, spectacles = lunettes f
[personal]
wallet, billfold = portefeuille m
passport = passeport m
phone, telephone = téléphone m
umbrella = parapluie m
handbag, purse = sac à main m
ring = bague f
credit card, bank card = carte bancaire/cartes bancaires f, carte de crédit f
watch, wristwatch = montre f
driving licence = permis de conduire/permis de conduire m
[luggage]
suitcase, case = valise f
backpack, rucksack = sac à dos m
[luggage fr-plural]
luggage, baggage = bagages m
[gift]
present, gift = cadeau m
toy = jouet m
doll = poupée f
puzzle, jigsaw = puzzle m
necklace = collier m
bunch of flowers/bunches of flowers, bouquet = bouquet de fleurs m, bouquet m
board game = jeu de société/jeux de société m
[parcel]
parcel, package = colis m, paquet m
[loan mass]
money, cash = argent m
[tool]
hammer = marteau m
ladder = échelle f
drill = perceuse f
lawn mower = tondeuse f
[fragile]
vase = vase m
plate = assiette f
glass = verre m
window
cup, mug = tasse f
bottle = bouteille f
[animal]
dog = chien m
cat = chat m
horse = cheval m
rabbit, bunny = lapin m
bird = oiseau m
cow = vache f
hen = poule f
duck = canard m
[baby]
baby = bébé m
[plant plural]
flowers = fleurs f
roses = roses f, rosiers m
tomatoes = tomates f
vegetables = légumes m
[ground]
lawn = pelouse f, gazon m
[tree]
tree = arbre m
apple tree = pommier m
rosebush = rosier m
[opening]
door = porte f
window = fenêtre f
gate = portail m
[opening plural]
curtains, drapes = rideaux m
shutters = volets m
[roomnoun]
kitchen = cuisine f
bathroom = salle de bains f
bedroom = chambre f, chambre à coucher f
living room, lounge = salon m, séjour m
garage = garage m
cellar, basement = cave f, sous-sol m
attic, loft = grenier m
[surface]
wall = mur m
fence = clôture f, barrière f
ceiling = plafond m
roof = toit m, toiture f
[washable en-plural]
dishes = vaisselle f
[washable fr-plural]
laundry = vêtements m
[school]
lesson = leçon f
exercise = exercice m
[school fr-plural]
homework = devoirs m
[exam]
exam, test = examen m, contrôle m
driving test = examen de conduite m
[subject mass]
history = histoire f
geography = géographie f
physics = physique f
biology = biologie f
chemistry = chimie f
literature = littérature f
[subject fr-plural]
mathematics, maths = mathématiques f, maths f
[sport mass]
football, soccer = football m, foot m
tennis = tennis m
basketball = basket m, basket-ball m
rugby = rugby m
volleyball = volley-ball m, volley m
golf = golf m
[sport fr-plural]
chess = échecs m
[instrument]
piano = piano m
guitar = guitare f
violin, fiddle = violon m
flute = flûte f
trumpet = trompette f
cello = violoncelle m
[watched]
film, movie = film m
documentary = documentaire m
match, game = match m, rencontre f
cartoon = dessin animé/dessins animés m
[heard]
song = chanson f
concert = concert m
[heard mass]
music = musique f
[play]
play = pièce de théâtre f, pièce f
exhibition, exhibit = exposition f
[picture]
photo, photograph, picture = photo f, photographie f
drawing = dessin m
painting = tableau m, peinture f
map = carte f
[contest]
race = course f
tournament = tournoi m
competition, contest = concours m, compétition f
final = finale f
[illness]
cold = rhume m
sore throat = angine f
stomach bug = gastro f
[illness mass]
flu, influenza = grippe f
[medicine fr-plural]
medicine, medication = médicaments m
[medicine plural]
pills, tablets = comprimés m, cachets m
vitamins = vitamines f
[body]
knee = genou/genoux m
back = dos m
shoulder = épaule f
arm = bras m
leg = jambe f
foot/feet = pied m
neck = cou m
hand = main f
[topic]
project = projet m
problem, trouble = problème m, souci m
idea = idée f
decision = décision f
accident = accident m
plan = plan m, programme m
[topic plural]
holidays, vacation plans = vacances f
[topic mass]
politics = politique f
work = travail m
[explained]
rule = règle f
situation = situation f
question = question f
recipe = recette f
problem
[offer]
invitation = invitation f
proposal, offer = proposition f, offre f
job offer = offre d'emploi f
[gathering]
meeting = réunion f
party = fête f, soirée f
wedding = mariage m
conference = conférence f, colloque m
appointment = rendez-vous/rendez-vous m
[file]
file = fichier m
document = document m
folder, directory = dossier m, répertoire m
message = message m
[software]
app, application = application f, appli f
program, piece of software/pieces of software = logiciel m, programme m
video game = jeu vidéo/jeux vidéo m
update = mise à jour/mises à jour f
[website]
website, internet site = site web/sites web m, site internet/sites internet m
password = mot de passe m
[sight]
museum = musée m
castle = château m
cathedral = cathédrale f
old town = vieille ville f
lighthouse = phare m
[building]
chemist's, pharmacy, drugstore = pharmacie f
bakery, baker's = boulangerie f
post office = bureau de poste m, poste f
supermarket = supermarché m
hospital = hôpital m
hotel = hôtel m
library = bibliothèque municipale f
school = école f
swimming pool = piscine f
car park, parking lot = parking m
restaurant = restaurant m, resto m
police station = commissariat m
cinema, movie theatre = cinéma m
church = église f
bridge = pont m
[city none]
Paris = Paris m
London = Londres m
Rome = Rome f
Geneva = Genève f
Brussels = Bruxelles f
Lisbon = Lisbonne f
Vienna = Vienne f
Venice = Venise f
Berlin = Berlin m
Barcelona = Barcelone f
Moscow = Moscou m
Marseilles = Marseille f
[name person none]
Marie = Marie f
Paul = Paul m
Sophie = Sophie f
Thomas = Thomas m
Julie = Julie f
Nicolas = Nicolas m
Claire = Claire f
Antoine = Antoine m
Emma = Emma f
Lucas = Lucas m
Alice = Alice f
Pierre = Pierre m
"""
