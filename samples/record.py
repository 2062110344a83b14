#!/usr/bin/env python3
"""Records a session in a real terminal as an SVG that moves: docs/images/session.svg, the Rails application of the tutorial.

usage: python3 samples/record.py OUTPUT.svg [COMMAND]    COMMAND begins a shell in a copy of samples/rails; bash by default

The shell runs in a pseudo terminal of 80 x 24. What is typed is shown as people type, pauses are cut, and what programs print comes
when they print it. Needs Python alone, and what the session needs: jprof, Rails, Puma. Look at the picture before it is committed."""
import fcntl
import html
import os
import pty
import re
import select
import struct
import sys
import termios
import time

COLUMNS, ROWS = 80, 24
WIDTH, HEIGHT = 8.43, 19  # of a cell, in pixels
PROMPT = "\x1f"
# What is typed, and for how many seconds the screen stands then.
SESSION = [
    ("jprof run -- bundle exec puma >puma.log 2>&1 &", 0.5),
    ("ruby load.rb 500      # it warms up", 0.5),
    ("jprof snap --puma --gc -o evening.jprof", 1.2),
    ("ruby load.rb 4000     # a night", 0.5),
    ("jprof snap --puma --gc --objects -o night.jprof", 1.2),
    ("clear; jprof diff evening.jprof night.jprof", 8.0),
    ("ruby load.rb 4000     # a day", 0.5),
    ("jprof snap --puma --gc --objects -o morning.jprof", 1.2),
    ("clear; jprof diff evening.jprof night.jprof morning.jprof", 9.0),
    ("clear; jprof keepers morning.jprof | head -n 9", 7.0),
]
LONGEST = 0.8  # of a pause in which nothing is printed
KEY = 0.04
COLOURS = {30: "#6b7079", 31: "#f07a6e", 32: "#8fc36b", 33: "#e0b454", 34: "#7db7f0", 35: "#c79bf0", 36: "#6cc5c1", 37: "#e9e6df"}


class Terminal:
    """As much of a terminal as these programs use. A cell is a character and its style."""

    def __init__(self):
        self.cells = [[(" ", "")] * COLUMNS for _ in range(ROWS)]
        self.row = self.column = 0
        self.style = ""

    def put(self, text):
        for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[^\[]|[^\x1b]", text):
            if part.startswith("\x1b["):
                self.control(part[2:-1], part[-1])
            elif not part.startswith("\x1b"):
                self.character(part)

    def character(self, c):
        if c == "\n":
            self.row += 1
        elif c == "\r":
            self.column = 0
        elif c == "\b":
            self.column = max(0, self.column - 1)
        elif c >= " ":
            if self.column == COLUMNS:
                self.row, self.column = self.row + 1, 0
                self.scroll()
            self.cells[self.row][self.column] = (c, self.style)
            self.column += 1
        self.scroll()

    def scroll(self):
        while self.row >= ROWS:
            self.cells = [*self.cells[1:], [(" ", "")] * COLUMNS]
            self.row -= 1

    def control(self, numbers, letter):
        n = [int(one) for one in re.findall(r"\d+", numbers)]
        first = n[0] if n else 0
        if letter == "m":
            self.colour(n or [0])
        elif letter == "H":
            self.row, self.column = (n[0] - 1, n[1] - 1) if len(n) == 2 else (0, 0)
        elif letter == "J" and first != 1:
            self.cells = [[(" ", "")] * COLUMNS if first >= 2 or i > self.row else row for i, row in enumerate(self.cells)]
        elif letter == "K":
            self.cells[self.row] = self.cells[self.row][:0 if first == 2 else self.column] + [(" ", "")] * (COLUMNS - (0 if first == 2 else self.column))
        elif letter == "A":
            self.row = max(0, self.row - (first or 1))
        elif letter == "G":
            self.column = max(0, first - 1)

    def colour(self, numbers):
        for n in numbers:
            if n == 0:
                self.style = ""
            elif n in (1, 2):
                self.style += " bold" if n == 1 else " faint"
            elif n % 60 in COLOURS and n in (*range(30, 38), *range(90, 98)):
                self.style = re.sub(r" c\d+", "", self.style) + f" c{n % 60}"
            elif n == 39:
                self.style = re.sub(r" c\d+", "", self.style)

    def screen(self):
        return tuple(tuple(row) for row in self.cells)


class Film:
    """Screens, and when each is seen first."""

    def __init__(self):
        self.frames, self.now = [], 0.0

    def show(self, terminal):
        screen = terminal.screen()
        if self.frames and self.now - self.frames[-1][0] < 0.06:
            self.frames[-1] = (self.frames[-1][0], screen)
        elif not self.frames or self.frames[-1][1] != screen:
            self.frames.append((self.now, screen))


def shell(command):
    pid, master = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        os.execvp("sh", ["sh", "-c", command])
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    return pid, master


def read_until_prompt(master, seen):
    """What is printed until the shell asks again: calls seen(text, seconds since the last)."""
    last, rest = time.monotonic(), b""
    while True:
        if not select.select([master], [], [], 180)[0]:
            sys.exit("record.py: nothing is printed for three minutes")
        try:
            rest += os.read(master, 65536)
        except OSError:
            sys.exit("record.py: the shell has ended")
        text = rest.decode(errors="ignore") if len(rest) < 4 else rest.decode("utf-8", "ignore")
        rest = b""
        now = time.monotonic()
        seen(text.replace(PROMPT, ""), now - last)
        last = now
        if PROMPT in text:
            return


def record(command):
    pid, master = shell(command)
    terminal, film = Terminal(), Film()
    os.write(master, b"stty -echo; PROMPT_COMMAND=; PS1=$'\\037'; set +m\n")
    read_until_prompt(master, lambda text, gap: None)

    def seen(text, gap):
        film.now += min(gap, LONGEST)
        terminal.put(text)
        film.show(terminal)

    for typed, stands in SESSION:
        terminal.put("\x1b[32m$\x1b[0m ")
        film.show(terminal)
        film.now += 0.5
        shown = typed.removeprefix("clear; ")
        if shown != typed:
            terminal.put("\x1b[2J\x1b[H\x1b[32m$\x1b[0m ")
        for c in shown:
            terminal.put(c)
            film.now += KEY
            film.show(terminal)
        os.write(master, (shown + "\n").encode())
        read_until_prompt(master, seen)
        film.show(terminal)
        film.now += stands
    os.write(master, b"kill $(jobs -p); wait; exit\n")
    try:
        while os.read(master, 65536):
            pass
    except OSError:
        pass
    os.waitpid(pid, 0)
    return film


def line_of(row):
    """A line of the screen as SVG: a text for each piece of one style."""
    made, at = [], 0
    while at < COLUMNS:
        end = at
        while end < COLUMNS and row[end][1] == row[at][1]:
            end += 1
        text = "".join(c for c, _ in row[at:end])
        lead = len(text) - len(text.lstrip())
        text = text.strip()
        if text:
            kind = f' class="{row[at][1].strip()}"' if row[at][1] else ""
            made.append(f'<text x="{(at + lead) * WIDTH:.1f}" textLength="{len(text) * WIDTH:.1f}"{kind}>{html.escape(text, quote=False)}</text>')
        at = end
    return "".join(made)


def svg(film):
    width, height = round(COLUMNS * WIDTH + 32), ROWS * HEIGHT + 32
    lines, strip, keys = {}, [], []
    for number, (begin, screen) in enumerate(film.frames):
        used = []
        for i, row in enumerate(screen):
            made = line_of(row)
            if made:
                used.append(f'<use href="#l{lines.setdefault(made, len(lines))}" y="{i * HEIGHT}"/>')
        strip.append(f'<g transform="translate(0 {number * height})">{"".join(used)}</g>')
        keys.append(f"{100 * begin / film.now:.3f}%{{transform:translateY(-{number * height}px)}}")
    last = (len(film.frames) - 1) * height
    colours = "".join(f".c{n}{{fill:{colour}}}" for n, colour in COLOURS.items())
    defs = "".join(f'<g id="l{n}">{made}</g>' for made, n in lines.items())
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">
<title>A Rails application that grows: two snapshots, the line that allocates, and who keeps it</title>
<style>
text{{font:14px "DejaVu Sans Mono",Menlo,Consolas,monospace;fill:#e9e6df;white-space:pre}}
.bold{{font-weight:bold}}.faint{{fill:#9aa0a8}}{colours}
.film{{animation:play {film.now:.1f}s step-end infinite}}
@keyframes play{{{"".join(keys)}100%{{transform:translateY(-{last}px)}}}}
@media (prefers-reduced-motion:reduce){{.film{{animation:none;transform:translateY(-{last}px)}}}}
</style>
<rect width="{width}" height="{height}" rx="8" fill="#17191d"/>
<defs>{defs}</defs>
<svg x="16" y="16" width="{width - 32}" height="{height - 32}"><g transform="translate(0 14)"><g class="film">
{chr(10).join(strip)}
</g></g></svg>
</svg>
"""


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    film = record(sys.argv[2] if len(sys.argv) == 3 else "exec bash --norc --noprofile")
    text = svg(film)
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write(text)
    print(f"{sys.argv[1]}: {film.now:.0f} seconds, {len(film.frames)} screens, {len(text) // 1024} KB")


main()
