# shellcheck shell=bash
# Completion of bellwether(1) in bash.  Commands and options are asked from the program itself, so
# they are those of the version that is installed; only the values that an option takes are known
# here, and a test compares them with what the program takes (tests/cli/completion_test.py).
#
# The other shells run this file: `bash bellwether.bash LINE` prints what is offered where the line
# ends, one a line; -f and -d stand for files and for folders, which each shell offers in its own way.

_bellwether() {
  local program=$1 words current='' previous='' command=''
  # Not COMP_WORDS, in which http://host:4040 is five words.
  read -r -a words <<<"${COMP_LINE:0:COMP_POINT}"
  if [[ ${COMP_LINE:0:COMP_POINT} != *[[:space:]] ]]; then
    current=${words[-1]}
    unset 'words[-1]'
  fi
  previous=${words[-1]}
  if [[ ${current} == --*=* ]]; then
    previous=${current%%=*}
    current=${current#*=}
  fi
  if [[ ${words[1]:-} != -* ]]; then
    command=${words[1]:-}
  fi

  COMPREPLY=()
  case ${previous} in
    --api | --config | --plot) _bellwether_files -f ;;
    --plugin-dir) _bellwether_files -d ;;
    --plugin)
      _bellwether_files -f
      _bellwether_words bully
      ;;
    --variant) _bellwether_words classic modified all ;;
    --initiator) _bellwether_words lowest highest all ;;
    --guard) _bellwether_words none majority store ;;
    --color) _bellwether_words auto always never ;;
    --format) _bellwether_words table csv json ;;
    --user) _bellwether_users ;;
    --hold) _bellwether_words 30s 5m 10m 1h ;;
    --wait) _bellwether_words 0s 30s 5m ;;
    --seed | --processes | --fault-seeds | --jobs | --at-least-elections) ;; # numbers, which one has to know
    *) _bellwether_command_line ;;
  esac
}

# What is no option's value: a command, an option, a file, a member.
_bellwether_command_line() {
  local offered
  if [[ ${current} == -* ]]; then
    mapfile -t offered < <(_bellwether_options)
    _bellwether_words "${offered[@]}"
    return
  fi
  case ${command} in
    '')
      mapfile -t offered < <(_bellwether_commands)
      _bellwether_words "${offered[@]}"
      ;;
    check | simulate) _bellwether_files -f ;;
    transfer)
      mapfile -t offered < <(_bellwether_members alive)
      _bellwether_words "${offered[@]}"
      ;;
    forget)
      mapfile -t offered < <(_bellwether_members '\(suspect\|down\|left\)')
      _bellwether_words "${offered[@]}"
      ;;
  esac
}

# Offers those of the words that go on like what has been typed.
_bellwether_words() {
  local word
  for word in "$@"; do
    if [[ ${word} == "${current}"* ]]; then
      COMPREPLY+=("${word}")
    fi
  done
}

# _bellwether_files -f|-d: offers files, or folders only.
_bellwether_files() {
  compopt -o filenames 2>/dev/null # fails where nobody completes: in a test
  mapfile -t COMPREPLY < <(compgen "$1" -- "${current}")
}

_bellwether_users() {
  mapfile -t COMPREPLY < <(compgen -u -- "${current}")
}

_bellwether_commands() {
  "${program}" --help 2>/dev/null |
    sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'
}

# Those of the command, if there is one yet.
_bellwether_options() {
  "${program}" ${command:+"${command}"} --help 2>/dev/null |
    sed -n '/^Options:/,/^Example/s/^  \(-[a-zA-Z],\)\{0,1\}\(--[a-z-]*\) .*/\2/p'
}

# _bellwether_members STATES: the members in one of them but this one, if a sidecar answers soon.
_bellwether_members() {
  local where=() i
  for ((i = 2; i < ${#words[@]}; ++i)); do
    case ${words[i]} in
      --api=* | --config=*) where+=("${words[i]}") ;;
      --api | --config) where+=("${words[i]}" "${words[i + 1]:-}") ;;
    esac
  done
  timeout 1 "${program}" status --json "${where[@]}" 2>/dev/null |
    grep -o '"name":"[A-Za-z0-9._-]*"[^{}]*"state":"'"$1"'"[^{}]*"is_self":false' |
    cut -d '"' -f 4
}

if [[ ${BASH_SOURCE[0]} != "$0" ]]; then
  complete -F _bellwether bellwether
else
  _bellwether_files() {
    COMPREPLY+=("$1")
  }
  COMP_LINE=$1 COMP_POINT=${#1}
  _bellwether "${1%%[[:space:]]*}"
  printf '%s\n' "${COMPREPLY[@]}"
fi
