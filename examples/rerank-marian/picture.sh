#!/bin/sh
# Makes report.png, the picture in the main README, with Debian's chromium: sh picture.sh
set -eu
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
smt rerank --dev dev.nbest --dev-ref dev.en --test test.nbest --test-ref test.en --feature length -m bleu,tokenize=none -o "$folder/out" -q
smt report -i "$folder/out/rescored.nbest" -w "$folder/out/weights" -r test.en --baseline test.nbest -m bleu,tokenize=none \
    --title "Test lists, reranked" -o "$folder/report.html" -q
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1060,830 \
    --screenshot="$PWD/report.png" "file://$folder/report.html" 2>/dev/null
