"""What can happen: the events of the phrasebook, by domain.

A line is ``English verbs = French verbs ; kinds of object ; determiners ; options`` (kinds are those of nouns.py; a
noun's own name works too). Determiners: a the own this generic number many body kin none. Options:

- ``subj=kinds`` who or what acts (else any person); ``thing``: not a person's doing; ``dummy``: it, il; ``exists``:
  there is, il y a
- ``state`` no progressive, no commands (``dated``: at some time; ``lasting``: always so); ``once`` happens, is not a
  habit; ``unwilled`` nobody wants or plans it
- ``at=kinds`` where, ``at!=`` always said; ``to=kinds`` where to, always said
- ``other=kinds:determiner:English preposition:French preposition`` a second object; ``other!=`` always said;
  ``dative``: English may say it first ("give her the book")
- ``with`` in company; ``m=kinds`` manners; ``clock`` at a time of day; ``passive`` has a passive
"""

from __future__ import annotations

EVENTS = """
[shopping]
buy, purchase = acheter ; food clothes device household furniture vehicle print gift ; a number this ; \
    at=shop,online with
choose, pick, select = choisir, opter pour ; clothes gift furniture ; a the ; at=shop once with m=careful passive
order = commander ; clothes device household furniture gift ; a number ; at=online once
return, take back, bring back = rapporter, ramener ; clothes tool ; the this ; to=shop once
sell = vendre ; vehicle furniture rented ring watch camera cow horse ; own the ; at=online,market once passive
try on = essayer ; clothes ; a the this ; at=shop once
pay for = payer ; meal luggage gift booked ; the this ; once
cost = coûter ; @amount ; none ; subj=clothes,device,household,gift,furniture thing state once
be = être ; @goods ; none ; subj=clothes,device,furniture,vehicle,luggage,gift,fragile thing state
borrow = emprunter ; tool vehicle print suitcase ; a the ; once other=kin,neighbours:my:from:à
[food]
eat, have = manger, prendre ; food ; a number ; at=eat,home with
drink, have = boire, prendre ; drink ; a ; at=eat,home with
cook, prepare, make = préparer, cuisiner ; dish ; a the ; with m=careful
bake, make = faire, préparer ; baked ; a number ; with m=careful
prepare, make = préparer, faire ; meal ; generic ; m=fast with
taste, try, sample = goûter, déguster ; dish cheese wine pie jam ; the this ; at=eat once
cut up, slice = couper, découper ; bread cheese meat cake pizza pie ; the ; m=careful passive
serve = servir ; dish drink ; the ; other=guests,customers,players:the:to:à subj=staff,kin passive
burn = brûler, faire brûler ; dish pie pizza pancake ; the ; once unwilled m=badly
peel = éplucher, peler ; vegetable apple ; the number ; m=careful,quiet at=home
share, split = partager ; food ; the ; with
order, ask for = commander, demander ; dish drink ; a ; at=eat once
like, be fond of, enjoy = aimer, apprécier ; food drink ; generic ; state
love, adore, be crazy about = adorer, raffoler de ; food drink sport animal ; generic ; state
hate, detest, loathe = détester, avoir horreur de ; food drink subject ; generic ; state
prefer = préférer ; sport drink ; generic ; state other!=@same:generic:to:à
be = être ; @taste ; none ; subj=dish,meal,drink thing state
[home]
clean = nettoyer ; roomnoun opening car oven carpet ; the ; m=quick,careful passive
tidy, tidy up, straighten up = ranger, mettre de l'ordre dans ; roomnoun desk wardrobe ; the own ; m=quick
wash = laver ; washable clothes vehicle window ; the ; m=quick,careful passive
repair, fix, mend = réparer ; device household vehicle roof fence tool toy ; the own kin this ; m=quick,careful \
    at=garage passive
paint = peindre, repeindre ; surface opening roomnoun bookcase ; the ; m=careful with passive
open = ouvrir ; opening parcel letter bottle suitcase ; the this ; m=quiet once passive
close, shut = fermer ; opening suitcase ; the ; m=quiet once passive
turn on, switch on = allumer, mettre en marche ; device lamp oven ; the ; once
turn off, switch off = éteindre, arrêter ; device lamp oven ; the ; once
break, smash = casser, briser ; fragile mirror screen toy glasses ; a the own ; once unwilled m=badly passive
lose, mislay = perdre, égarer ; personal ; own ; at=public,outdoors once unwilled
look for, search for, hunt for = chercher, être à la recherche de ; personal ; own ; at=public,room
find, recover, get back = retrouver, récupérer ; personal ; own the ; at=room,public once passive
forget, leave behind = oublier ; personal luggage ; own the ; at=public once unwilled
hide, conceal = cacher, dissimuler ; gift loan letter chocolate keys ; the ; at=room,attic once passive
put, place = mettre, poser ; personal fragile lamp letter parcel ; the own ; at!=room once
water = arroser ; plant lawn tree ; the own ; m=quick
plant = planter ; tree plant ; a number many ; at=garden,balcony with
feed = nourrir, donner à manger à ; animal baby ; the own ; m=quick
look after, take care of, mind = s'occuper de, prendre soin de ; animal baby patients nephew niece grandmother \
    grandfather ; own ; with
move into = emménager dans ; rented ; a this ; once with
clear out = vider, débarrasser ; attic cellar garage wardrobe ; the ; with m=quick
[family]
visit, call on, drop in on = rendre visite à, aller voir ; kin ; own ; at=residence with
invite, ask = inviter ; kin ; own the ; other=gathering,restaurant:the:to:à once
phone, call, ring up = appeler, téléphoner à ; kin specialist plumber lawyer ; own ; m=quiet
help, assist, lend a hand to = aider, donner un coup de main à ; kin ; own ; at=home,work,school
thank = remercier ; kin nurse staff ; own the ; other=gift,meal:the:for:pour once
meet, run into, bump into = rencontrer, croiser, tomber sur ; kin staff ; own a ; at=public,destination once unwilled
wait for = attendre ; kin transport ; own the ; at=public m=quiet
kiss, embrace = embrasser ; kin ; own ; once
argue with, quarrel with, have a row with = se disputer avec, se quereller avec ; kin ; own ; at=public,home unwilled
laugh at, make fun of = se moquer de ; kin ; own ; once unwilled
give, offer = donner, offrir ; gift print watch ; a this ; other!=kin:own:to:à dative once
send, mail, post = envoyer, expédier ; letter parcel postcard gift email picture ; a the number ; \
    other!=kin:own:to:à dative
show = montrer, faire voir ; picture letter ring passport toy ; the this ; other!=kin,staff:own:to:à dative once
lend, loan = prêter ; loan tool vehicle print umbrella suitcase ; the a ; other!=kin:own:to:à dative once
tell = raconter ; story ; a this ; other!=kin,students,guests:own:to:à
talk about, chat about, discuss = parler de, discuter de ; topic offer play ; the this ; with at=eat,public \
    m=quiet,phone
miss = manquer, rater, louper ; transport flight ; the own ; once unwilled at=station
be proud of = être @fier/fière de ; kin ; own ; state
trust, have confidence in = faire confiance à, se fier à ; kin staff ; own the ; state
look like, resemble = ressembler à ; mother father uncle aunt grandmother grandfather cousin ; own ; state \
    lasting subj=kin,name
[school]
study = étudier ; subject ; generic ; at=school m=quiet with
learn = apprendre ; subject ; generic ; at=school with
memorise, learn by heart = mémoriser, apprendre par cœur ; poem rule song lesson ; the this ; m=quick
teach = enseigner ; subject ; generic ; at=school subj=staff,kin
read = lire ; reading written ; a the this ; at=home,public,outdoors m=quiet
write = écrire, rédiger ; letter report essay article novel poem email ; a the ; at=work,home m=quiet,careful passive
translate = traduire ; letter article novel contract poem ; a the ; m=careful passive
correct, mark = corriger ; homework exercise essay exam ; the ; at=home m=careful,quick passive
finish, complete = finir, terminer ; school report essay novel puzzle project ; the own ; once m=fast
explain = expliquer ; explained ; the this ; other=kin,students,customers,employees:the:to:à
pass = réussir, réussir à ; exam ; the own ; once
fail, flunk = rater, échouer à ; exam ; the own ; once unwilled
understand = comprendre ; explained poem article play ; the this ; state
prepare for, get ready for = préparer, se préparer à ; exam ; the own ; at=school with
draw, sketch = dessiner ; animal tree boat castle lighthouse ; a the number ; at=outdoors,school m=quick
copy out, write out = recopier, copier ; lesson exercise poem recipe ; the ; at=school m=careful
be = être ; @opinion ; none ; subj=reading,watched,play,exam,lesson,meeting thing state
[work]
work = travailler, bosser ; - ; none ; at!=work with
attend, take part in = assister à, participer à ; gathering ; the a ; with once
cancel, call off = annuler ; gathering trip ; the own ; once passive
cancel = annuler ; booked ; the own ; once at=online m=phone
postpone, put off = reporter, repousser ; gathering trip ; the own ; once
organise, arrange, set up = organiser ; gathering trip play tournament ; a the ; with once passive
sign = signer ; contract letter report application_form ; the this ; once passive
print, print out = imprimer ; report picture document contract plane_ticket train_ticket ; the number ; \
    at=work,library passive
accept, agree to = accepter ; offer ; the this ; once
turn down, reject, decline = refuser, rejeter, décliner ; offer ; the this ; once passive
hire, recruit, take on = embaucher, recruter, engager ; hired ; a number ; subj=company,boss once
fire, dismiss, sack = licencier, renvoyer ; hired ; a the number ; subj=company,boss once
look for, seek = chercher, rechercher ; hired ; a ; subj=company,boss
be = être ; @feeling ; none ; state dated
feel = se sentir ; @feeling ; none ; state dated
be = être ; @trait ; none ; subj=kin,staff,name state
be, work as = être, travailler comme ; @job ; none ; subj=relative,name state
be = avoir ; @age ; none ; subj=nephew,niece,cousin,son,daughter,name state lasting
retire, stop working = partir à la retraite, arrêter de travailler ; - ; none ; subj=kin,staff once
[computers]
download = télécharger ; software file song film photo ; a the number ; m=quick passive
delete, erase, remove = effacer, supprimer ; file photo software ; the own ; m=badly once passive
save, back up = enregistrer, sauvegarder ; file photo report ; the own ; m=careful
install, set up = installer ; software printer computer ; a the this ; m=quick passive
change, modify = changer, modifier ; password website file ; own the this ; m=careful once
update = mettre à jour, actualiser ; software website file ; the own ; m=quick
use, make use of = utiliser, se servir de ; device tool software website ; the own this ; m=careful at=work
crash, freeze = planter, se bloquer ; - ; none ; subj=software,computer,tablet,website thing once
break down, stop working = tomber en panne, cesser de fonctionner ; - ; none ; subj=device,household,vehicle \
    thing once
create, build, set up = créer, concevoir ; website app video_game file ; a this ; with at=work
[travel]
go, travel, head = aller, se rendre ; - ; none ; to=destination with m=ride
return, go back = retourner, revenir ; - ; none ; to=destination with m=ride
leave for, set off for = partir pour ; city ; none ; with m=ride once
visit, tour = visiter ; city sight ; none the ; with m=quick
explore, discover = explorer, découvrir ; city sight ; none the ; with m=ride
dream of, fantasise about = rêver de ; city ; none ; state
come from, be from = venir de, être originaire de ; city ; none ; state lasting
book, reserve = réserver ; booked ; a the number ; at=online once
rent, hire = louer ; rented vehicle ; a this ; at=residence with
pack = préparer, faire ; luggage ; own the ; m=fast once
take, catch = prendre ; transport ; the a ; at=station once with
drive = conduire ; car truck van bus ; own a kin ; m=quick
stay, spend the night = loger, dormir ; - ; none ; at!=lodging with
live, reside = habiter, vivre ; - ; none ; at!=residence state
get lost, lose POSS way = se perdre, s'égarer ; - ; none ; at!=outdoors,public once unwilled with
walk, go for a walk, stroll = se promener, se balader, faire une promenade ; - ; none ; at!=outdoors,path with m=quiet
unpack = défaire, vider ; luggage ; own the ; once m=fast
leave, depart, set off = partir ; - ; none ; subj=transport thing clock once
arrive, get in = arriver ; - ; none ; subj=transport,kin thing clock once
be faster than, be quicker than = être plus @rapide/rapide que ; transport vehicle ; the ; \
    subj=transport,vehicle thing state
be more expensive than, be pricier than = être plus @cher/chère que ; clothes vehicle device booked ; the ; \
    subj=clothes,vehicle,device,booked thing state
be late, be delayed = être en retard, avoir du retard ; - ; none ; subj=transport thing
be = y avoir ; building ; a many ; exists at!=@near state
be, be located = être, se trouver ; - ; none ; subj=personal,fragile,tool,print thing state at!=room
be, be located = être, se trouver ; - ; none ; subj=building thing state at!=@near
[leisure]
play = jouer à ; sport ; generic ; at=sportplace with
play = jouer de ; instrument ; the ; at=party,home with
listen to = écouter ; heard radio ; a generic the ; at=home,public with m=quiet
watch = regarder ; watched photo ; a the this ; at=home with m=quiet
win = gagner, remporter ; contest match ; the ; once
lose = perdre ; contest match ; the ; once unwilled
run, go jogging, jog = courir, faire du jogging ; - ; none ; at!=outdoors,path with
swim, go swimming = nager, se baigner ; - ; none ; at!=water with
dance = danser ; - ; none ; at!=party with
sing = chanter ; song ; a this ; at=party with
photograph, take a picture of = photographier, prendre en photo ; animal sight flowers tree ; a the number ; \
    at=outdoors with
train, work out, exercise = s'entraîner, faire de l'exercice ; - ; none ; at!=sportplace with
rest, relax, take a break = se reposer, se détendre ; - ; none ; at!=home,outdoors with
fall asleep, doze off, nod off = s'endormir, s'assoupir ; - ; none ; at!=home,public once unwilled
fall = tomber, faire une chute ; - ; none ; at!=public,outdoors once unwilled
start, begin, get under way = commencer, débuter ; - ; none ; subj=watched,play,gathering,lesson,concert thing \
    clock once
end, finish, be over = se terminer, prendre fin ; - ; none ; subj=watched,play,gathering,lesson,concert thing \
    clock once
open = ouvrir ; - ; none ; subj=museum,library,supermarket,bakery,swimming_pool,castle thing clock
close, shut = fermer ; - ; none ; subj=museum,library,supermarket,bakery,swimming_pool,castle thing clock
be = être ; @condition ; none ; subj=building,roomnoun thing state dated
chase, run after = poursuivre, courir après ; animal ; the a ; subj=dog,cat,duck thing at=outdoors,home
sleep = dormir ; - ; none ; subj=animal,baby thing at!=room,home
[health]
have a pain in, feel pain in = avoir mal à ; body ; body ; state dated
catch, come down with, go down with = attraper ; illness ; a ; once unwilled at=school,work,abroad
hurt, injure = se blesser à ; body ; body ; once unwilled at=sportplace,home,work m=badly
see, consult = consulter, aller voir ; specialist ; a the own ; once with
take, swallow = prendre, avaler ; medicine ; own the a ; m=quick
treat, take care of = soigner ; patient animal ; the a ; subj=doctor,nurse,vet at=hospital
go to bed, turn in = se coucher, aller au lit ; - ; none ; clock
get up, get out of bed = se lever, sortir du lit ; - ; none ; clock
[weather]
rain, pour = pleuvoir ; - ; none ; dummy at=region m=degree,wet
snow = neiger ; - ; none ; dummy at=region m=degree,wet
be cold, be chilly = faire froid, faire frais ; - ; none ; dummy state dated at!=region
be very hot, be boiling = faire très chaud, faire vraiment chaud ; - ; none ; dummy state dated at!=region
be sunny, be bright and sunny = faire beau, y avoir du soleil ; - ; none ; dummy state dated at!=region
be windy, be blustery = y avoir du vent, faire du vent ; - ; none ; dummy state dated at!=region
be foggy, be misty = y avoir du brouillard, y avoir de la brume ; - ; none ; dummy state dated at!=region
"""
