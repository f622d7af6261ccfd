"""Places, times, manners, and the second clauses of a sentence: each line ``English = French`` (see words.py)."""

from __future__ import annotations

# Where: the whole phrase. With "to" for the first word it is where one goes, except where it has none.
PLACES = """
[shop dest]
at the supermarket = au supermarché
at the market = au marché
in the shopping centre, in the mall = au centre commercial
in a second-hand shop = dans un magasin d'occasion
in a department store = dans un grand magasin
at the corner shop, at the local store = à l'épicerie du coin, à la supérette
[online]
on the internet, online = sur internet, en ligne
[eat dest]
at the restaurant = au restaurant
in a café near the station, in a coffee shop near the station = dans un café près de la gare
in the canteen, in the cafeteria = à la cantine, à la cafétéria
at my grandparents' house, at my grandparents' place = chez mes grands-parents
in a pizzeria = dans une pizzeria
[home]
at home = à la maison
in the kitchen = dans la cuisine
on the balcony = sur le balcon
in the living room, in the lounge = dans le salon, dans le séjour
in the garden = dans le jardin
in the garage = dans le garage
in the cellar, in the basement = à la cave, au sous-sol
in the attic, in the loft = au grenier
[room]
in the kitchen
in the drawer = dans le tiroir
under the bed = sous le lit
behind the sofa, behind the couch = derrière le canapé, derrière le sofa
in the car = dans la voiture
in the hall, in the entrance hall = dans l'entrée, dans le vestibule
on the table = sur la table
on the top shelf = sur l'étagère du haut
next to the computer, beside the computer = à côté de l'ordinateur
in front of the mirror = devant le miroir
[public]
in the street = dans la rue
at the station, at the railway station = à la gare
at the bus stop = à l'arrêt de bus
in the park = au parc, dans le parc
on the train = dans le train
at the airport = à l'aéroport
in the lift, in the elevator = dans l'ascenseur
in the town centre, in the city centre, downtown = au centre-ville
at the entrance to the museum = à l'entrée du musée
[outdoors]
in the forest, in the woods = dans la forêt, dans les bois
by the river, along the river = au bord de la rivière, le long de la rivière
on the beach = sur la plage
in the mountains = à la montagne
in the countryside = à la campagne
[path]
around the lake = autour du lac
through the fields = à travers champs
[outdoors]
in the park
[destination dest]
at the beach, at the seaside = à la plage, au bord de la mer
in the mountains
in the countryside
at the swimming pool, at the pool = à la piscine
at the cinema, at the movies = au cinéma
at the library = à la bibliothèque
at the office = au bureau
at the hospital = à l'hôpital
at the theatre = au théâtre
at the airport
at the post office = à la poste
at the gym = à la salle de sport
at the hairdresser's = chez le coiffeur
at the dentist's = chez le dentiste
in Paris = à Paris
in London = à Londres
in Spain = en Espagne
in Italy = en Italie
in Germany = en Allemagne
in Japan = au Japon
in the United States, in America = aux États-Unis, en Amérique
abroad, overseas = à l'étranger
[residence]
in Paris
in London
in Spain
in Germany
in Canada = au Canada
in Portugal = au Portugal
in a small village, in a little village = dans un petit village
in the suburbs, on the outskirts of the city = en banlieue, à la périphérie de la ville
on the third floor = au troisième étage
near the sea, close to the sea = près de la mer, à deux pas de la mer
abroad
in the countryside
[work]
at the office
in a factory, in a plant = dans une usine
at the hospital
in a bank = dans une banque
for a large company, for a big firm = pour une grande entreprise, pour une grosse société
from home = à domicile
[school]
at school = à l'école
at university, at college = à l'université, à la fac
at the library
in the classroom = en classe, dans la salle de classe
[lodging]
at the hotel = à l'hôtel
at a campsite = dans un camping
in a youth hostel = dans une auberge de jeunesse
at a friend's house, at a friend's place = chez un ami, chez un copain
[water]
in the lake = dans le lac
in the sea = dans la mer
in the river = dans la rivière
at the swimming pool
[sportplace]
at the gym
at the stadium = au stade
in the park
on the beach
[party]
at the party = à la fête
at the wedding = au mariage
in front of the whole class = devant toute la classe
at my birthday party = à ma fête d'anniversaire
[region]
in Paris
in London
in the mountains
in the north of the country = dans le nord du pays
in the south of France = dans le sud de la France
on the coast = sur la côte
in Brittany = en Bretagne
in the whole region, throughout the region = dans toute la région
"""

# How two things lie to each other: joined to a building of nouns.py.
RELATIONS = """
near, close to, not far from = près de, à proximité de, non loin de
opposite, across from = en face de
behind = derrière
next to, beside = à côté de
in front of = devant
"""

# [tenses they go with]
TIMES = """
[past]
yesterday = hier
last night, yesterday evening = hier soir
this morning = ce matin
last week = la semaine dernière, la semaine passée
last month = le mois dernier, le mois passé
last year = l'année dernière, l'an dernier
two days ago = il y a deux jours
the day before yesterday = avant-hier
a few days ago = il y a quelques jours
last summer = l'été dernier
last winter = l'hiver dernier
last weekend = le week-end dernier
last Monday = lundi dernier
last Thursday = jeudi dernier
last Saturday = samedi dernier
three months ago = il y a trois mois
after lunch = après le déjeuner
during the holidays, during the vacation = pendant les vacances
an hour ago = il y a une heure
[future]
tomorrow = demain
tomorrow morning = demain matin
tonight, this evening = ce soir
this afternoon = cet après-midi
next week = la semaine prochaine
next month = le mois prochain
next year = l'année prochaine, l'an prochain
next Tuesday = mardi prochain
next Friday = vendredi prochain
next Sunday = dimanche prochain
in a few days, in a couple of days = dans quelques jours
soon, shortly, before long = bientôt, prochainement, sous peu
next weekend = le week-end prochain
in two weeks, in a fortnight = dans deux semaines, dans quinze jours
next summer = l'été prochain
the day after tomorrow = après-demain
in an hour = dans une heure
at the end of the month = à la fin du mois
[present]
every day, each day = tous les jours, chaque jour
every morning, each morning = tous les matins, chaque matin
every evening, each evening = tous les soirs, chaque soir
every Monday, on Mondays = tous les lundis, le lundi
every Wednesday, on Wednesdays = tous les mercredis, le mercredi
every Saturday, on Saturdays = tous les samedis, le samedi
at weekends, on weekends = le week-end
in summer = en été
in winter = en hiver
every week, each week = toutes les semaines, chaque semaine
every month, each month = tous les mois, chaque mois
twice a week = deux fois par semaine
once a month = une fois par mois
from time to time, now and then = de temps en temps
after work = après le travail
before breakfast = avant le petit-déjeuner
during the week = pendant la semaine, en semaine
[now]
now, right now = maintenant
at the moment, at present, currently = en ce moment, actuellement
at this very moment = en ce moment même
for the time being = pour le moment, pour l'instant
[day-past]
yesterday
this morning
the day before yesterday
last Monday
last Thursday
last Saturday
[day-future]
tomorrow
the day after tomorrow
next Tuesday
next Friday
next Sunday
[day-present]
every day
every Monday
every Wednesday
every Saturday
in summer
in winter
during the week
[clock]
at six o'clock = à six heures
at seven o'clock = à sept heures
at half past seven, at seven thirty = à sept heures et demie
at eight o'clock = à huit heures
at a quarter past nine = à neuf heures et quart
at ten o'clock = à dix heures
at half past eleven, at eleven thirty = à onze heures et demie
at noon, at midday = à midi
at a quarter to three = à trois heures moins le quart
at five in the afternoon = à cinq heures de l'après-midi
at midnight = à minuit
around nine, at about nine = vers neuf heures
"""

FREQUENCIES = """
often, frequently = souvent, fréquemment
always, invariably = toujours
sometimes, occasionally = parfois, quelquefois
rarely, seldom = rarement
usually, generally, normally = généralement, habituellement
"""

# [what the event must allow]
MANNERS = """
[quick fast]
quickly, fast, rapidly = rapidement, en vitesse
[quick]
slowly, at a leisurely pace = lentement, sans hâte
[careful]
carefully, with great care = soigneusement, avec soin
in a hurry, hastily = à la hâte, précipitamment
without help, without any assistance = sans aide
in less than an hour = en moins d'une heure
[quiet]
quietly, calmly = calmement, tranquillement
for hours, for hours on end = pendant des heures
[badly]
by accident, accidentally = par accident, accidentellement
by mistake = par erreur
[phone]
by phone = par téléphone
[ride]
by train = en train
by car = en voiture
by plane = en avion
by bike, by bicycle = à vélo, à bicyclette
on foot = à pied
by boat = en bateau
by bus = en bus
[degree]
a lot, heavily = beaucoup, énormément
for three days = pendant trois jours
all day long, the whole day = toute la journée
all night long, the whole night = toute la nuit
[wet]
without stopping, non-stop = sans arrêt, sans interruption
"""

# A second clause about the subject: "because she is hungry". [domains it fits; any = all]
STATES = """
[any]
be tired, be exhausted = être @fatigué, être @épuisé
be in a hurry, be pressed for time = être @pressé, manquer de temps
be bored, have nothing to do = s'ennuyer
be happy, be in a good mood = être @content, être de bonne humeur
be busy, have a lot to do = être @occupé, avoir beaucoup à faire
be worried, be anxious = être @inquiet/inquiète, se faire du souci
be on holiday, be on vacation = être en vacances
need money, be short of money = avoir besoin d'argent, être à court d'argent
be ill, be sick, be unwell = être @malade/malade, être @souffrant
be late, be behind schedule = être en retard
[food shopping]
be hungry, be starving = avoir faim, être @affamé
be thirsty = avoir soif
[travel leisure home]
be cold, be freezing = avoir froid
be hot = avoir chaud
be afraid, be scared, be frightened = avoir peur
[work school computers]
be ambitious = être @ambitieux/ambitieuse
lack experience = manquer d'expérience
be angry, be furious = être en colère, être @furieux/furieuse
"""

PURPOSES = """
[any]
save time = gagner du temps
save money, cut costs = économiser de l'argent, faire des économies
please my mother, make my mother happy = faire plaisir à ma mère
surprise my parents = surprendre mes parents
relax, unwind = se détendre, se relaxer
[leisure school work computers]
pass the time, kill time = passer le temps, tuer le temps
learn something new = apprendre quelque chose de nouveau
make new friends = se faire de nouveaux amis
finish earlier, finish sooner = finir plus tôt
earn more money, make more money = gagner plus d'argent
[food health leisure]
stay healthy, keep fit, stay in shape = rester en forme, garder la forme
celebrate the good news = fêter la bonne nouvelle, célébrer la bonne nouvelle
[travel family shopping]
celebrate the end of the year, mark the end of the year = fêter la fin de l'année, marquer la fin de l'année
forget everything for a while, switch off for a while = tout oublier un moment
help a friend, help out a friend = aider un ami, rendre service à un ami
"""

CONDITIONS = """
if it rains = s'il pleut
if the weather is nice, if the weather is good = s'il fait beau, si le temps le permet
if all goes well, if everything goes to plan = si tout va bien, si tout se passe bien
if it is not too expensive, if it does not cost too much = si ce n'est pas trop cher, si ça ne coûte pas trop cher
if everyone agrees, if nobody objects = si tout le monde est d'accord, si personne ne s'y oppose
if there is enough time, if time allows = s'il y a assez de temps
if nothing changes = si rien ne change
if it is necessary, if need be = si c'est nécessaire, s'il le faut
"""
