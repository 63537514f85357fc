#!/bin/sh
# Writes manual pages and shell completion of programs to where `man` and shells look: packaging/pages.sh SHARE PROGRAM...
# SHARE is /usr/share in a package.
set -eu
umask 022

share=$1
shift
bash=$share/bash-completion/completions
zsh=$share/zsh/site-functions
fish=$share/fish/vendor_completions.d
mkdir -p "$bash" "$zsh" "$fish"
for program; do
    name=$(basename "$program")
    case $name in weft-switchd | weftctl) section=8 ;; *) section=1 ;; esac
    "$program" --man "$share/man/man$section" >/dev/null
    "$program" --completion bash >"$bash/$name"
    "$program" --completion zsh >"$zsh/_$name"
    "$program" --completion fish >"$fish/$name.fish"
done
