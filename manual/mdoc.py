"""Text, and Markdown as docs/ has it, in mdoc(7), the language of manual pages."""
import re
import textwrap


def escape(text):
    """Text for an mdoc line: each character is itself."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace('"', "\\(dq").replace("`", "\\(ga")
    return re.sub(r"^(?=[.])", r"\\&", text)


def prose(text):
    """Sentences, one a line, as mdoc wants them. `Code` and options are bold, what stands for something is italic."""
    parts = re.split(r"(`[^`]*`)", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text.replace("**", "")))
    marked = "".join(f"\\fB{escape(part[1:-1])}\\fP" if part.startswith("`") else plain(part) for part in parts)
    lines = re.sub(r"(?<=[\w)\]>][.:?]) (?=[A-Z\\])", "\n", marked).split("\n")
    lines = [part for line in lines for part in textwrap.wrap(line, 78, break_long_words=False, break_on_hyphens=False)]
    return "\n".join(re.sub(r"^(?=[.'])", r"\\&", line) for line in lines)


def plain(text):
    return re.sub(r"(?<![\w\\-])((?:\\-){1,2}[a-z][a-z_0-9\\-]*)", r"\\fB\1\\fP", escape(text))


def code(lines):
    body = "\n".join(re.sub(r"^(?=[.'])", r"\\&", escape(line)) for line in lines)
    return f".Bd -literal -offset indent\n{body}\n.Ed"


def table(rows):
    """A table of Markdown: what a row begins with is its tag."""
    cells = [re.split(r"(?<!\\)\|", row.strip().strip("|")) for row in rows]
    cells = [[cell.strip().replace("\\|", "|") for cell in row] for row in cells if not re.fullmatch(r"[|\s-]+", "|".join(row))]
    items = [f".It {tag(row[0])}\n{prose('; '.join(cell for cell in row[1:] if cell))}" for row in cells[1:]]
    return "\n".join([".Bl -tag -width Ds", *items, ".El"])


def tag(text):
    marked = prose(text).replace("\n", " ")
    return marked if marked.startswith("\\") else f"\\&{marked}"


def bullets(lines):
    items = [prose(item) for item in re.split(r"^- ", "\n".join(lines), flags=re.M) if item]
    return "\n".join([".Bl -bullet", *(f".It\n{item}" for item in items), ".El"])


def blocks(text):
    """Paragraphs, tables and code of Markdown, which blank lines part."""
    found = []
    for block in re.split(r"\n(?:[ \t]*\n)+", text.strip("\n")):
        if found and block.startswith("    ") and found[-1].startswith("    "):
            found[-1] += f"\n\n{block}"
        else:
            found.append(block)
    for block in found:
        lines = block.split("\n")
        if lines[0].startswith("    "):
            yield code([line[4:] for line in lines])
        elif lines[0].startswith("|"):
            yield table(lines)
        elif lines[0].startswith("- "):
            yield bullets([re.sub(r"^  (?=\S)", "", line) for line in lines])
        elif lines[0].startswith("### "):
            yield f".Ss {lines[0][4:]}"
        elif lines[0].strip():
            yield f".Pp\n{prose(' '.join(lines))}"


def section(document, heading):
    """What stands below a heading of a document ("" for what stands before the second one), in mdoc."""
    parts = re.split(r"^##? (.*)\n", document, flags=re.M)
    named = dict(zip(parts[1::2], parts[2::2]))
    if heading and heading not in named:
        raise SystemExit(f"mdoc.py: there is no heading {heading!r}")
    made = "\n".join(blocks(named[heading] if heading else parts[2]))
    return re.sub(r"(\.Ss .*)\n\.Pp", r"\1", re.sub(r"\A\.Pp\n", "", made))
