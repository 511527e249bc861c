"""A conversation of some length: a week of Dutch, one word after another."""

from __future__ import annotations

from hermes_tui.demo.scripts import Line, Session

_WORDS = """de trein|the train|De trein vertrekt om negen uur.
de fiets|the bicycle|Mijn fiets staat achter het huis.
het brood|the bread|Het brood is nog warm.
de kaas|the cheese|Mag ik een stuk kaas?
de straat|the street|De straat is smal en stil.
het water|the water|Het water staat hoog vandaag.
de regen|the rain|De regen houdt niet op.
de zon|the sun|Eindelijk schijnt de zon.
het huis|the house|Het huis heeft een blauwe deur.
de sleutel|the key|Ik ben mijn sleutel kwijt.
de winkel|the shop|De winkel is op zondag dicht.
de rekening|the bill|De rekening, alstublieft.
het station|the station|Hoe kom ik bij het station?
de vriend|the friend|Een vriend wacht op mij.
gisteren|yesterday|Gisteren was alles anders.
morgen|tomorrow|Morgen ga ik naar Utrecht.
misschien|perhaps|Misschien komt ze later.
altijd|always|Hij is altijd te laat.
nooit|never|Zeg nooit nooit.
gezellig|cosy, in good company|Het was een gezellige avond.
lekker|tasty, nice|Slaap lekker!
mooi|beautiful|Wat een mooie brug.
druk|busy|Het is druk op de markt.
rustig|quiet|'s Ochtends is het hier rustig.
duur|expensive|Dat vind ik te duur.
goedkoop|cheap|De soep is goedkoop en goed.
links|left|Bij de kerk naar links.
rechts|right|Daarna meteen rechts.
rechtdoor|straight on|Altijd maar rechtdoor.
de brug|the bridge|De brug gaat open voor een schip.
het schip|the ship|Het schip komt uit Rotterdam.
de boot|the boat|We huren een kleine boot.
de zee|the sea|De zee is koud in april.
het strand|the beach|Op het strand waait het.
de wind|the wind|Tegen de wind in fietsen.
het weer|the weather|Het weer slaat om.
praten|to talk|Kunnen we rustig praten?
luisteren|to listen|Luister nog een keer.
lezen|to read|Ze leest in de trein.
schrijven|to write|Ik schrijf je een kaart.
zoeken|to look for|Ik zoek het museum.
vinden|to find|Wie zoekt, die vindt.
betalen|to pay|Kan ik met de kaart betalen?
vragen|to ask|Mag ik iets vragen?
helpen|to help|Kunt u mij helpen?
wachten|to wait|Even wachten, ik kom zo.
dank je wel|thank you|Dank je wel voor alles."""


def session() -> Session:
    """As a chat on a messaging platform: a question, an answer, a sentence."""
    lines = [
        Line("user", "Teach me enough Dutch for a week in Utrecht. One word at a time, with a sentence.", 2.0),
        Line("assistant", "Graag! You say *next*, I say the word; you guess, I tell.", 8.0),
    ]
    for number, entry in enumerate(_WORDS.split("\n")):
        word, meaning, sentence = entry.split("|")
        night = 40_000.0 if number % 12 == 11 else 25.0
        right = number % 4 != 2
        guess = meaning.split(",")[0].removeprefix("the ").removeprefix("to ") if right else "no idea"
        praise = "Precies." if right else f"It is *{meaning}*."
        lines += [
            Line("user", "next", night),
            Line("assistant", f"**{word}**", 5.0),
            Line("user", guess, 14.0),
            Line("assistant", f"{praise} _{word}_, {meaning}.\n\n> {sentence}", 6.0),
        ]
    lines.append(Line("user", "Dank je wel! I leave on Sunday.", 900.0))
    lines.append(Line("assistant", "Goede reis! Zet je fiets altijd op slot.", 6.0))
    about = {"start": "92d 18:00", "title": "Learn enough Dutch for a week", "source": "telegram", "chat": "Ada"}
    return Session("dutch", about, lines)
