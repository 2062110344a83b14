#!/usr/bin/env python3
"""Makes completion for a shell: usage: completion.py JPROF bash|zsh|fish, to standard output.

It is made of what --help prints. A report has no command; its options stand under the name "report"."""
import sys

import helptext

HEAD = "Completion of jprof's commands and options, made of what its --help prints."
# Those that start another program: behind their own options stands a command line of its own.
STARTS = ("run", "doctor")


def quote(text):
    """One word of a POSIX shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def forms(option):
    """How an option is typed: with = where a value follows."""
    return [f"--{option.name}{'=' if option.argument and not option.optional else ''}"] + (
        [f"--{option.name}="] if option.optional else [])


def is_directory(option):
    return option.argument.startswith("DIR") or option.argument == "FILE|DIR"


def is_file(option):
    return option.argument.startswith(("FILE", "DUMP"))


# ---- bash ----

BASH = """\
# HEAD
_jprof() {
    local line=${COMP_LINE:0:COMP_POINT} commands=COMMANDS
    local -A options=(
OPTIONS
    ) values=(
VALUES
    )
    local cur=${line##*[[:space:]]} typed command=report option before= list
    read -ra typed <<<"$line"
    # What the cursor stands in is no command yet.
    if [[ $cur ]]; then unset "typed[-1]"; fi
    if [[ ${typed[1]-} && " $commands " == *" ${typed[1]} "* ]]; then command=${typed[1]}; fi
    COMPREPLY=()
    if [[ " ${typed[*]} " == *" -- "* ]]; then return; fi # another program's
    case $cur in
    --*=*)
        option=${cur%%=*}
        # readline takes = for the end of a word
        [[ $COMP_WORDBREAKS == *=* ]] || before=$option=
        list=${values[$command $option]-}
        if [[ $list == / ]]; then
            mapfile -t COMPREPLY < <(compgen -d -P "$before" -- "${cur#*=}")
            compopt -o filenames 2>/dev/null
        else
            mapfile -t COMPREPLY < <(compgen -P "$before" -W "$list" -- "${cur#*=}")
        fi
        ;;
    -*)
        mapfile -t COMPREPLY < <(compgen -W "${options[$command]}" -- "$cur")
        if [[ ${COMPREPLY[0]-} == *= ]]; then compopt -o nospace 2>/dev/null; fi
        ;;
    *)
        if [[ ${#typed[@]} == 1 || "${typed[*]:1}" == help ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$cur"; [[ ${typed[1]-} ]] || compgen -f -- "$cur")
            compopt -o filenames 2>/dev/null
        fi
        ;;
    esac
}
complete -o default -F _jprof jprof
"""


def bash(helps):
    names = [name for name, _, _ in helps if name != "report"]
    options, values = [], []
    for name, _, help in helps:
        words = " ".join(form for option in help.options() for form in forms(option))
        options.append(f"        [{name}]={quote(words)}")
        for option in help.options():
            if option.words() or is_directory(option):
                value = " ".join(option.words()) or "/"
                values.append(f"        [{quote(f'{name} --{option.name}')}]={quote(value)}")
    return (BASH.replace("COMMANDS", quote(" ".join(names))).replace("OPTIONS\n", "\n".join(options) + "\n")
            .replace("VALUES\n", "\n".join(values) + "\n"))


# ---- zsh ----

ZSH = """\
#compdef jprof
# HEAD
_jprof() {
    local -a described options
    local name=report
    described=(
COMMANDS
    )
    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
        _describe -t commands command described
        _files
        return
    fi
    if [[ -n $words[2] && " NAMES " == *" $words[2] "* ]]; then
        name=$words[2]
        shift words
        (( CURRENT-- ))
    fi
    case $name in
OPTIONS
    esac
    _arguments $options
}
_jprof "$@"
"""


def zsh_option(option):
    text = option.help.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
    argument = option.argument.replace(":", "\\:")
    action = f"({' '.join(option.words())})" if option.words() else "_files -/" if is_directory(option) else "_files" if is_file(option) else " "
    if not option.argument:
        return quote(f"--{option.name}[{text}]")
    return quote(f"--{option.name}={'-' if option.optional else ''}[{text}]:{':' if option.optional else ''}{argument}:{action}")


def zsh(helps):
    commands = [f"        {quote(f'{name}:{note}')}" for name, note, _ in helps if name != "report"]
    cases = []
    for name, _, help in helps:
        rest = "'*::command: _normal'" if name in STARTS else "'*:file:_files'"
        lines = "\n".join(f"            {zsh_option(option)}" for option in help.options())
        cases.append(f"    {name})\n        options=(\n{lines}\n            {rest}\n        )\n        ;;")
    names = " ".join(name for name, _, _ in helps if name != "report")
    return ZSH.replace("NAMES", names).replace("COMMANDS\n", "\n".join(commands) + "\n").replace("OPTIONS\n", "\n".join(cases) + "\n")


# ---- fish ----

FISH = """\
# HEAD
function __jprof_command
    set -l commands COMMANDS
    set -l typed (commandline -opc)
    if contains -- "$typed[2]" $commands
        echo $typed[2]
    else
        echo report
    end
end
"""


def fish_option(name, option):
    line = f"complete -c jprof -n 'test (__jprof_command) = {name}' -l {option.name}"
    if option.words():
        line += f" -x -a {quote(' '.join(option.words()))}" if not option.optional else f" -f -a {quote(' '.join(option.words()))}"
    elif is_directory(option):
        line += " -x -a '(__fish_complete_directories)'"
    elif is_file(option):
        line += " -r"
    elif option.argument and not option.optional:
        line += " -x"
    return f"{line} -d {fish_quote(option.help)}"


def fish_quote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish(helps):
    names = [name for name, _, _ in helps if name != "report"]
    lines = [FISH.replace("COMMANDS", " ".join(names))]
    for name, note, _ in helps:
        if name != "report":
            lines.append(f"complete -c jprof -n 'test (count (commandline -opc)) -eq 1' -a {name} -d {fish_quote(note)}")
    lines += [fish_option(name, option) for name, _, help in helps for option in help.options()]
    return "\n".join(lines) + "\n"


def main(jprof, shell):
    whole = helptext.ask(jprof)
    helps = [("report", "", whole)]
    helps += [(name, note, helptext.ask(jprof, name)) for name, note in helptext.commands(whole)]
    sys.stdout.write({"bash": bash, "zsh": zsh, "fish": fish}[shell](helps).replace("# HEAD", f"# {HEAD}", 1))


main(*sys.argv[1:])
