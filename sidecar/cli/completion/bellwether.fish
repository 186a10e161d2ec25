# Completion of bellwether(1) in fish: what the script for bash says, which is installed beside this.

set --global __bellwether_script (path resolve (status dirname)/../../bash-completion/completions/bellwether)

function __bellwether_words
    set --local token (commandline --cut-at-cursor --current-token)
    # fish replaces all of --option=value.
    set --local option (string match --regex -- '^--[a-z-]+=' $token)
    set --local value (string replace -- "$option" '' $token)
    for word in (bash $__bellwether_script (commandline --cut-at-cursor --current-process | string collect) 2>/dev/null)
        switch $word
            case -f
                printf '%s\n' "$option"(__fish_complete_path $value)
            case -d
                printf '%s\n' "$option"(__fish_complete_directories $value '')
            case '*'
                printf '%s\n' "$option"$word
        end
    end
end

complete --command bellwether --no-files --arguments '(__bellwether_words)'
