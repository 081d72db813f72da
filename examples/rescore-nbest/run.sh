#!/bin/sh
# Two lists, one from Moses and one from cdec, with two features added: a language model's score and one of your own.
# usage: sh run.sh [OUTPUT FOLDER]
set -eu
out=${1:-$(mktemp -d)}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")"

for toolkit in moses cdec; do
    list=moses.nbest
    test "$toolkit" = cdec && list=cdec.kbest
    smt score -i "$list" -s source.de --plugin copied.py --feature lm,path=en.arpa --feature copied \
        -o "$out/$toolkit.scored"
    smt rescore -i "$out/$toolkit.scored" -w "weights.$toolkit" --set-weight lm=0.1 --set-weight copied=-1 \
        -o "$out/$toolkit.rescored"
    smt best -i "$out/$toolkit.rescored" -o "$out/$toolkit.en"
    echo "$toolkit, as it came and with the two features:"
    smt evaluate -r ref.en -m bleu,tokenize=none -m chrf --bootstrap 1000 "$list" "$out/$toolkit.en"
    echo
done
echo "lists and translations: $out"
