#!/usr/bin/env python3
"""Makes one HTML page of both books and the README: site.py [--pages], to standard output. The page loads nothing.

The order of the books is BOOKS. --pages lists the files that the page is made of; one that is in docs/ and in no book is an error."""
import base64
import glob
import html
import os
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(here)
BOOKS = [
    ("Guide", "start questions famous tools ruby tags run containers alpine triggers snap unprepared reading diff explain check watch "
              "keepers ages html outputs names doctor serve fleet"),
    ("Internals", "design outside agent ruby ruby-table snap heap bundle graph buffers json formats page parts statistics packs differences "
                  "reliability measurements rows"),
]


def files():
    """(id, path) of each page, in order."""
    listed = [("readme", os.path.join(root, "README.md"))]
    for book, names in BOOKS:
        folder = "internals/" if book == "Internals" else ""
        listed += [(folder + name, os.path.join(here, f"{folder}{name}.md")) for name in names.split()]
    have = set(glob.glob(f"{here}/**/*.md", recursive=True))
    wrong = have ^ {path for _, path in listed[1:]}
    if wrong:
        sys.exit(f"site.py: in docs/ or in BOOKS alone: {sorted(os.path.relpath(path, here) for path in wrong)}")
    return listed


def slug(text):
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


class Page:
    """A page of Markdown, of the kind that docs/ has."""

    def __init__(self, ident, path, ids):
        self.ident, self.path, self.ids = ident, path, ids
        with open(path, encoding="utf-8") as file:
            self.lines = file.read().split("\n")

    def link(self, text, target):
        if re.match(r"https?:", target):
            return f'<a href="{html.escape(target)}">{text}</a>'
        path, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(self.path), path)) if path else self.path
        if file in self.ids:
            return f'<a href="#{self.ids[file]}{"/" + anchor if anchor else ""}">{text}</a>'
        return f'<span title="{html.escape(os.path.relpath(file, root))}, in the sources">{text}</span>'

    def image(self, text, target):
        file = os.path.join(os.path.dirname(self.path), target)
        kind = "svg+xml" if file.endswith(".svg") else "png"
        with open(file, "rb") as data:
            return f'<img alt="{html.escape(text)}" src="data:image/{kind};base64,{base64.b64encode(data.read()).decode()}">'

    def inline(self, text):
        """Code, bold, pictures and links of a line."""
        made = []
        for part in re.split(r"(`+[^`]+`+)", text):
            made.append(f"<code>{html.escape(part.strip('`'), quote=False)}</code>" if part.startswith("`") else html.escape(part, quote=False))
        text = "".join(made).replace("\\|", "|")
        text = re.sub(r"!\[([^\]]*)\]\(([^)\s]+)\)", lambda m: self.image(m[1], m[2]), text)
        text = re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", lambda m: self.link(m[1], m[2]), text)
        return re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", text).replace("*", "*") if "**" in text else re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?!\w)", r"<i>\1</i>", text)

    def table(self, rows):
        cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))] for row in rows]
        head = "".join(f"<th>{self.inline(cell)}</th>" for cell in cells[0])
        body = "".join("<tr>" + "".join(f"<td>{self.inline(cell)}</td>" for cell in row) + "</tr>" for row in cells[2:])
        return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'

    def code(self, lines):
        return f"<pre><code>{html.escape(chr(10).join(lines).rstrip(), quote=False)}</code></pre>"

    def items(self, lines, mark):
        """A list: an item is its line and what is indented below it."""
        made, item = [], []
        for line in [*lines, None]:
            if line is None or re.match(mark, line):
                if item:
                    made.append("<li>" + "\n".join(self.blocks(item)) + "</li>")
                if line is not None:
                    indent = len(re.match(mark, line)[0])
                    item = [line[indent:]]
            else:
                item.append(line[min(indent, len(line) - len(line.lstrip())):])
        return made

    def blocks(self, lines):
        at = 0

        def taken(wanted):
            nonlocal at
            begin = at
            while at < len(lines) and wanted(lines[at]):
                at += 1
            return lines[begin:at]

        while at < len(lines):
            line = lines[at]
            heading = re.match(r"(#+) (.*)", line)
            listed = re.match(r"- |\d+\. ", line)
            if not line.strip():
                at += 1
            elif line.startswith("```"):
                at += 1
                yield self.code(taken(lambda l: not l.startswith("```")))
                at += 1
            elif heading:
                at += 1
                level = len(heading[1])
                ident = f' id="{self.ident}/{slug(heading[2])}"' if level > 1 else ""
                yield f"<h{level}{ident}>{self.inline(heading[2])}</h{level}>"
            elif line.startswith("    "):
                block = taken(lambda l: l.startswith("    ") or not l.strip())
                yield self.code([one[4:] for one in block])
            elif line.startswith("|"):
                yield self.table(taken(lambda l: l.startswith("|")))
            elif listed:
                mark = r"- " if listed[0] == "- " else r"\d+\. "
                block = taken(lambda l: re.match(mark, l) or l.startswith("  ") or not l.strip())
                kind = "ul" if mark == "- " else "ol"
                yield f"<{kind}>{''.join(self.items(block, mark))}</{kind}>"
            else:
                block = taken(lambda l: l.strip() and not re.match(r"#|\||- |```|    ", l)) or taken(lambda l: l == line)
                yield f"<p>{self.inline(' '.join(block))}</p>"

    def title(self):
        return re.sub(r"`", "", self.lines[0].lstrip("# ")).split(": ")[0]

    def made(self):
        return f'<article id="{self.ident}">\n' + "\n".join(self.blocks(self.lines)) + "\n</article>"


def read(name):
    with open(os.path.join(here, name), encoding="utf-8") as file:
        return file.read()


def main():
    listed = files()
    if "--pages" in sys.argv:
        print("\n".join(os.path.relpath(path, here) for _, path in listed[1:]))
        return
    pages = [Page(ident, path, {path: ident for ident, path in listed}) for ident, path in listed]
    contents = {page.ident: f'<a href="#{page.ident}">{html.escape(page.title())}</a>' for page in pages}
    nav = contents["readme"]
    for book, names in BOOKS:
        folder = "internals/" if book == "Internals" else ""
        nav += f"<h2>{book}</h2>" + "".join(contents[folder + name] for name in names.split())
    sys.stdout.reconfigure(encoding="utf-8")
    print(f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>jprof</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<style>
{read("site.css")}</style></head><body>
<nav><input type="search" placeholder="Search (/)" aria-label="Search"> {nav}</nav>
<main><div id="results"></div>
{chr(10).join(page.made() for page in pages)}
</main><script>
{read("site.js")}</script></body></html>""")


main()
