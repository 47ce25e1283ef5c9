#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""completion.py bash|zsh|fish PERF-PROF: prints what the shell offers after Tab, out of the program's option tables."""
import json
import re
import subprocess
import sys

DYNAMIC = r'''
# Names of events that begin with $1, one per line.
_perf_prof_events() { perf-prof list "$1*" 2>/dev/null | sed -n 's/^  \([^ ]*\).*/\1/p'; }
# Names of the fields of the tracepoint $1.
_perf_prof_fields() { perf-prof list -v "$1" 2>/dev/null | sed -n 's/^      \([a-z_0-9A-Z]*\) .*/\1/p'; }
'''

BASH = r'''
_perf_prof_pids() { local p; for p in /proc/[0-9]*; do echo "${p#/proc/}"; done; }

# The words that can stand for $1, of which a list is typed: each begins with what is there already.
_perf_prof_list() {
    local last=${2##*,} head=${2%"${2##*,}"} IFS=$' \t\n'
    case $1 in
    pid) compgen -P "$head" -W "$(_perf_prof_pids)" -- "$last" ;;
    event)
        if [[ $last == */* ]]; then
            local word=${last##*[!A-Za-z0-9_]}
            compgen -P "${2%"$word"}" -W "$(_perf_prof_fields "${last%%/*}")" -- "$word"
        else
            compgen -P "$head" -W "$(_perf_prof_events "$last")" -- "$last"
        fi ;;
    command) compgen -W "@COMMANDS@" -- "$2" ;;
    file) compgen -f -- "$2" ;;
    '') ;;
    *) compgen -W "${1//|/ }" -- "$2" ;;
    esac
}

_perf_prof() {
    local line=${COMP_LINE:0:COMP_POINT} IFS=$' \t\n' words cur prev command='' value='' i
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=('')
    cur=${words[-1]} prev=${words[-2]}
    (( ${#words[@]} > 2 )) && command=${words[1]}
    for (( i = 2; i < ${#words[@]} - 1; i++ )); do      # the words of a command that is run
        [[ ${words[i]} == -- ]] && { COMPREPLY=($(compgen -c -f -- "$cur")); return; }
    done
    IFS=$'\n'
    if [[ -z $command ]]; then
        COMPREPLY=($(_perf_prof_list command "$cur"))
    elif [[ $cur == --*=* ]]; then
        COMPREPLY=($(_perf_prof_list "${_perf_prof_values[$command ${cur%%=*}]}" "${cur#*=}"))
        cur=${cur#*=}
    elif [[ -v _perf_prof_values["$command $prev"] ]]; then
        value=${_perf_prof_values[$command $prev]}
        COMPREPLY=($(_perf_prof_list "$value" "$cur"))
    elif [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "${_perf_prof_options[$command]// /$'\n'}" -- "$cur"))
    elif [[ $command == help ]]; then
        COMPREPLY=($(_perf_prof_list command "$cur"))
    elif [[ $command == list ]]; then
        COMPREPLY=($(_perf_prof_list event "$cur"))
    else
        COMPREPLY=($(compgen -f -- "$cur"))
    fi
    if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then   # readline replaces what follows the last colon
        for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"${cur%"${cur##*:}"}"}; done
    fi
    [[ $value == event ]] && compopt -o nospace 2>/dev/null
}
complete -o filenames -F _perf_prof perf-prof
'''

ZSH = r'''
_perf_prof_event() {
    local last=${PREFIX##*,}
    if [[ $last == */* ]]; then
        local word=${last##*[^A-Za-z0-9_]}
        compset -P "*[^A-Za-z0-9_]"
        compadd -S '' -- ${(f)"$(_perf_prof_fields ${last%%/*})"}
    else
        compset -P '*,'
        compadd -S '' -- ${(f)"$(_perf_prof_events $last)"}
    fi
}
_perf_prof_commands=(
@DESCRIBED@)
_perf_prof() {
    local context state state_descr line
    typeset -A opt_args
    _arguments -C '1: :{_describe command _perf_prof_commands}' '*:: :->rest' && return
    case $words[1] in
@CASES@    esac
}
_perf_prof "$@"
'''


def first_sentence(text):
    return text.partition('. ')[0].rstrip('.')


def kind_of(option):
    """What its value is: event, pid, file, choices, or nothing that can be offered; None: it takes none."""
    value, name = option.get('value'), option['name']
    if not value:
        return None
    if name in ('event', 'key'):
        return 'event' if name == 'event' else ''
    if name in ('pids', 'tids'):
        return 'pid'
    if re.fullmatch(r'[a-z-]+(\|[a-z-]+)+', value):
        return value
    return 'file' if re.search('FILE|PATH|DIR', value) else ''


def words_of(option):
    names = [option['name'], option.get('alias')]
    long = ['--' + n for n in names if n] + (['--no-' + option['name']] if option.get('negatable') else [])
    return (['-' + option['key']] if option.get('key') else []) + long


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def bash(commands):
    out = ['# bash completion for perf-prof' + DYNAMIC, 'declare -gA _perf_prof_options=(']
    for c in commands:
        words = [w for o in c['options'] for w in words_of(o)] + ['--help', '--help-all']
        out.append(f'    [{c["command"]}]="{" ".join(words)}"')
    out += [')', 'declare -gA _perf_prof_values=(']
    for c in commands:
        out += [f'    ["{c["command"]} {w}"]={quoted(kind_of(o))}' for o in c['options'] if kind_of(o) is not None for w in words_of(o)]
    return '\n'.join(out) + '\n)\n' + BASH.replace('@COMMANDS@', ' '.join(c['command'] for c in commands))


def zsh(commands):
    def spec(option):
        text = re.sub(r"([\[\]:\\])", r'\\\1', first_sentence(option['help'])).replace("'", "'\\''")
        kind, out = kind_of(option), []
        for word in words_of(option):
            value = {None: '', 'event': ': :_perf_prof_event', 'pid': ': :_pids', 'file': ': :_files', '': ': : '}.get(
                kind, f': :({(kind or "").replace("|", " ")})')
            long = '=' if word.startswith('--') else '+'
            out.append(f"'*{word}{long if kind is not None and not word.startswith('--no-') else ''}[{text}]{value}'")
        return out

    cases = ''
    for c in commands:
        specs = [s for o in c['options'] for s in spec(o)] + ["'--help[Show the usual options]'", "'--help-all[Show all options]'"]
        rest = {'help': "'*: :{_describe command _perf_prof_commands}'", 'list': "'*: :_perf_prof_event'"}.get(c['command'], "'*::: :_normal'"
                if 'COMMAND' in c['usage'] else "'*: :_files'")
        cases += f'    {c["command"]}) _arguments -s ' + ' \\\n        '.join(specs + [rest]) + ' ;;\n'
    described = ''.join(f'    {quoted(c["command"] + ":" + c["summary"])}\n' for c in commands)
    return '#compdef perf-prof' + DYNAMIC + ZSH.replace('@DESCRIBED@', described).replace('@CASES@', cases)


FISH = r'''# fish completion for perf-prof
function __perf_prof_events
    set -l token (commandline -ct | string replace -r '^--[a-z-]+=' '')
    set -l last (string replace -r '.*,' '' -- $token)
    set -l head (string replace -r '[^,]*$' '' -- $token)
    if string match -q '*/*' -- $last
        set -l base (string replace -r '[A-Za-z0-9_]*$' '' -- $token)
        perf-prof list -v (string replace -r '/.*' '' -- $last) 2>/dev/null | string replace -rf '^      (\w+) .*' "$base\$1"
    else
        perf-prof list "$last*" 2>/dev/null | string replace -rf '^  (\S+).*' "$head\$1"
    end
end
complete -c perf-prof -n __fish_use_subcommand -f
'''


def fish(commands):
    out = [FISH.rstrip('\n')]
    for c in commands:
        out.append(f'complete -c perf-prof -n __fish_use_subcommand -a {c["command"]} -d {quoted(c["summary"])}')
    for c in commands:
        seen = f"-n '__fish_seen_subcommand_from {c['command']}'"
        for o in c['options']:
            kind = kind_of(o)
            value = {None: '', 'event': " -x -a '(__perf_prof_events)'", 'pid': " -x -a '(__fish_complete_pids)'", 'file': ' -r', '': ' -x'}.get(
                kind, f" -x -a {quoted((kind or '').replace('|', ' '))}")
            names = [w for w in words_of(o) if not w.startswith('--no-')]
            flags = ''.join(f' -s {w[1]}' if len(w) == 2 else f' -l {w[2:]}' for w in names)
            out.append(f'complete -c perf-prof {seen}{flags}{value} -d {quoted(first_sentence(o["help"]))}')
            if o.get('negatable'):
                out.append(f'complete -c perf-prof {seen} -l no-{o["name"]} -d {quoted(first_sentence(o["help"]))}')
    names = ' '.join(c['command'] for c in commands)
    out += [f"complete -c perf-prof -n '__fish_seen_subcommand_from help' -f -a {quoted(names)}",
            "complete -c perf-prof -n '__fish_seen_subcommand_from list' -f -a '(__perf_prof_events)'"]
    return '\n'.join(out) + '\n'


def main(shell, program):
    told = subprocess.run([program, 'help', '--json'], capture_output=True, text=True, check=True).stdout
    commands = [json.loads(line) for line in told.splitlines()]
    for c in commands:
        c['options'] = [o for g in c['groups'] for o in g['options'] if o.get('name')]
    print({'bash': bash, 'zsh': zsh, 'fish': fish}[shell](commands), end='')


if __name__ == '__main__':
    main(*sys.argv[1:])
