#!/bin/sh
# Makes report.png, the picture in the main README, with Debian's chromium: sh picture.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$here"/dev.* "$here"/test.* "$folder"
cd "$folder"
smt rerank --dev dev.nbest --dev-ref dev.en --test test.nbest --test-ref test.en --feature length -m bleu,tokenize=none -o out -q
smt report -i out/rescored.nbest -w out/weights -r test.en --baseline test.nbest -m bleu,tokenize=none --title "Test lists, reranked" \
    -o report.html -q
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1060,830 \
    --screenshot="$here/report.png" "file://$folder/report.html" 2>/dev/null
