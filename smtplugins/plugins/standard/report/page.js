
(() => {
  const { data, el, svg, bdi, say, short, minus, unpack, select, labelled, replace, part } = tools;
  const ROWS = 40;
  const CASES = 10;
  if (!data?.ids) return;

  const score = (value) => minus(value.toFixed(Math.abs(value) < 1.5 ? 4 : 2));
  const signed = (value) => (value > 0 ? "+" : "") + score(value);

  // Blocks are opened when first looked at; a few are kept.
  const opened = new Map();
  const block = (k) => {
    if (!opened.has(k)) {
      if (opened.size > 200) opened.delete(opened.keys().next().value);
      opened.set(k, unpack(data.blocks[k]));
    }
    return opened.get(k);
  };
  let features = null;
  const named = () => (features ??= unpack(data.features));

  // What differs between two texts, word by word: the longest common subsequence.
  const diff = (from, to) => {
    const a = from.split(/\s+/u).filter(Boolean);
    const b = to.split(/\s+/u).filter(Boolean);
    if (a.length * b.length > 4e6) return { from: [[from, from === to]], to: [[to, from === to]] };
    const width = b.length + 1;
    const table = new Uint16Array((a.length + 1) * width);
    for (let i = a.length - 1; i >= 0; i--) {
      for (let j = b.length - 1; j >= 0; j--) {
        table[i * width + j] = a[i] === b[j]
          ? table[(i + 1) * width + j + 1] + 1
          : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
      }
    }
    const left = [];
    const right = [];
    let i = 0;
    let j = 0;
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && a[i] === b[j]) {
        left.push([a[i++], true]);
        right.push([b[j++], true]);
      } else if (j === b.length || (i < a.length && table[(i + 1) * width + j] >= table[i * width + j + 1])) {
        left.push([a[i++], false]);
      } else {
        right.push([b[j++], false]);
      }
    }
    return { from: left, to: right };
  };
  const marked = (words, tag) => {
    const parts = [];
    for (let i = 0; i < words.length;) {
      let end = i;
      while (end < words.length && words[end][1] === words[i][1]) end++;
      const text = words.slice(i, end).map((one) => one[0]).join(" ");
      if (parts.length) parts.push(" ");
      parts.push(words[i][1] ? text : el(tag, {}, text));
      i = end;
    }
    return el("bdi", { class: "text" }, parts);
  };

  const bar = (value, largest) => {
    const length = largest ? Math.abs(value) / largest * 48 : 0;
    return svg("svg", { class: "bar", viewBox: "0 0 96 12", width: 96, height: 12, "aria-hidden": "true" },
      svg("rect", { class: value >= 0 ? "plus" : "minus", x: value >= 0 ? 48 : 48 - length, y: 1, width: length, height: 10 }),
      svg("line", { class: "zero", x1: 48, y1: 0, x2: 48, y2: 12 }));
  };
  const count = data.ids.length;
  const change = data.chosen.map((one, k) => one - data.base[k]);
  const gap = data.oracle.map((one, k) => data.sign * (one - data.chosen[k]));
  const by = (key) => [...Array(count).keys()].sort((a, b) => key(a) - key(b) || a - b);

  // Wins and losses.
  const cases = (place) => {
    const orders = {
      losses: ["biggest losses first", (k) => data.sign * change[k] < 0, (k) => data.sign * change[k]],
      wins: ["biggest wins first", (k) => data.sign * change[k] > 0, (k) => -data.sign * change[k]],
      other: ["other words, equal score", (k) => change[k] === 0, () => 0],
    };
    const order = select(Object.fromEntries(Object.entries(orders).map(([key, one]) => [key, one[0]])), { id: "case-order" });
    const shown = el("span", { class: "count" });
    const list = el("div", { id: "cases" });
    const more = el("button", { type: "button" }, "Show more");
    let found = [];
    let at = 0;
    let turn = 0;
    const show = async () => {
      const mine = turn;
      let made = 0;
      let focus = null;
      more.disabled = true;
      while (at < found.length && made < CASES) {
        const k = found[at++];
        const one = await block(k);
        if (mine !== turn) return;
        if (one.texts[0] === one.baseline) continue;
        const article = wonOrLost(k, one);
        focus ??= article.querySelector("button");
        list.append(article);
        made++;
      }
      more.hidden = at >= found.length;
      more.disabled = false;
      shown.textContent = list.childElementCount ? `${list.childElementCount.toLocaleString("en")} shown` : "none";
      return focus;
    };
    const begin = async () => {
      turn++;
      const [, wanted, key] = orders[order.value];
      found = by(key).filter(wanted);
      at = 0;
      replace(list);
      await show();
    };
    order.addEventListener("change", begin);
    more.addEventListener("click", async () => { (await show())?.focus(); });
    replace(place,
      el("p", {}, `The chosen hypotheses beside the baseline (${data.baseline}), by the change of ${data.metric} of the sentence. Words that only one of the two has are marked.`),
      el("div", { class: "controls" }, labelled("Order", order), shown), list, more);
    begin();
  };
  // Of a pool: the systems that have a candidate.
  const systems = (one, i) => one.systems?.[i]?.replaceAll(",", ", ") ?? "";
  const from = (one, i) => (systems(one, i) ? [" (", bdi(systems(one, i)), ")"] : null);
  const wonOrLost = (k, one) => {
    const words = diff(one.baseline, one.texts[0]);
    const heading = `Sentence ${data.ids[k]}: ${score(data.base[k])} \u2192 ${score(data.chosen[k])} (${signed(change[k])})`;
    return el("article", {},
      el("h3", {}, heading),
      el("dl", {},
        one.source === null ? null : [el("dt", {}, "source"), el("dd", {}, bdi(one.source))],
        el("dt", {}, "baseline"), el("dd", {}, marked(words.from, "del")),
        el("dt", {}, "chosen"), el("dd", {}, marked(words.to, "ins"), from(one, 0)),
        one.references.map((text) => [el("dt", {}, "reference"), el("dd", {}, bdi(text))]).flat()),
      el("button", { type: "button", "aria-label": `Open the list of sentence ${data.ids[k]}`, onclick: () => browse(k, true) }, "Open its list"));
  };

  // The lists.
  let browse = () => {};
  const browser = (place) => {
    const orders = {
      file: ["in their order", (k) => k],
      gap: ["furthest below the oracle", (k) => -gap[k]],
      losses: ["biggest losses", (k) => data.sign * change[k]],
      wins: ["biggest wins", (k) => -data.sign * change[k]],
      worst: ["worst score", (k) => data.sign * data.chosen[k]],
    };
    const order = select(Object.fromEntries(Object.entries(orders).map(([key, one]) => [key, one[0]])), { id: "order" });
    const find = el("input", { type: "search", id: "find", size: 18, placeholder: "words or an id" });
    const shown = el("span", { class: "count" });
    const list = el("select", { id: "sentences", size: 20, "aria-label": "Sentences" });
    const panel = el("div", { id: "sentence" });
    const apart = el("div", { class: "apart", id: "apart" });
    const step = (by) => el("button", { type: "button", onclick: () => {
      const next = list.selectedIndex + by;
      if (next >= 0 && next < list.length) { list.selectedIndex = next; show(Number(list.value)); }
    } }, by < 0 ? "Previous" : "Next");
    let matching = null;
    let turn = 0;
    const listed = (keep) => {
      const ordered = by(orders[order.value][1]).filter((k) => matching === null || matching.has(k));
      list.replaceChildren(...ordered.map((k) => el("option", { value: k }, `${data.ids[k]}: ${score(data.chosen[k])}, oracle ${score(data.oracle[k])}`)));
      shown.textContent = `${ordered.length.toLocaleString("en")} of ${count.toLocaleString("en")} sentences`;
      const at = Math.max(0, ordered.indexOf(keep));
      list.selectedIndex = ordered.length ? at : -1;
      if (ordered.length) show(ordered[at]);
      else {
        turn++;
        replace(panel, el("p", {}, "No sentence has this."));
        replace(apart);
      }
    };
    const show = async (k) => {
      const mine = ++turn;
      const [one, names] = await Promise.all([block(k), named()]);
      if (mine !== turn) return;
      replace(panel, sentence(k, one, names, apart));
      const rows = panel.querySelector(".candidates");
      const row = rows.querySelector("[aria-selected]");
      rows.scrollTop = row.offsetTop - rows.clientHeight / 2;
    };
    let waiting = 0;
    const texts = [];
    const search = async () => {
      const wanted = find.value.trim().toLowerCase();
      const mine = ++waiting;
      if (!wanted) {
        matching = null;
        listed(Number(list.value || 0));
        return;
      }
      const found = new Set();
      for (let k = 0; k < count; k++) {
        if (data.ids[k] === wanted) { found.add(k); continue; }
        if (texts[k] === undefined) {
          const one = await block(k);
          texts[k] = [one.source ?? "", one.texts[0], one.baseline, ...one.references].join("\n").toLowerCase();
          if (mine !== waiting) return;
        }
        if (texts[k].includes(wanted)) found.add(k);
      }
      matching = found;
      listed(-1);
      say(shown.textContent);
    };
    let pause = 0;
    find.addEventListener("input", () => { clearTimeout(pause); pause = setTimeout(search, 250); });
    order.addEventListener("change", () => listed(-1));
    list.addEventListener("change", () => show(Number(list.value)));
    browse = (k, move) => {
      matching = null;
      find.value = "";
      listed(k);
      if (move) {
        document.getElementById("browser").scrollIntoView();
        list.focus();
      }
    };
    replace(place,
      el("div", { class: "controls" }, labelled("Order", order), labelled("Find", find), step(-1), step(1), shown),
      el("div", { class: "sides" }, list, panel), apart);
    listed(0);
  };

  // One sentence: its candidates, and one of them taken apart.
  const sentence = (k, one, names, apart) => {
    const candidates = one.texts.length;
    const heads = ["rank", one.totals === null ? null : "total", `sentence ${data.metric}`, one.systems ? "system" : null, "hypothesis"].filter(Boolean);
    const body = el("tbody");
    const rank = (i) => (i === candidates - 1 ? one.last : i) + 1;
    let at = -1;
    const choose = (i, focus) => {
      if (at >= 0 && body.children[at]) {
        body.children[at].removeAttribute("aria-selected");
        body.children[at].querySelector("button").tabIndex = -1;
      }
      at = i;
      while (body.childElementCount <= i) append();
      const row = body.children[i];
      row.setAttribute("aria-selected", "true");
      const button = row.querySelector("button");
      button.tabIndex = 0;
      if (focus) {
        button.focus();
        say(`Hypothesis ${rank(i)}`);
      }
      replace(apart, taken(k, one, names, i, rank));
    };
    const row = (i) => {
      const tags = [
        i === 0 ? el("span", { class: "tag chosen" }, "chosen") : null,
        i === one.oracle ? el("span", { class: "tag oracle" }, "oracle") : null,
        one.texts.indexOf(one.baseline) === i ? el("span", { class: "tag base" }, "baseline") : null,
      ];
      return el("tr", {},
        el("th", { scope: "row", class: "number" }, el("button", { type: "button", tabindex: -1, "aria-label": `Take hypothesis ${rank(i)} apart`, onclick: () => choose(i, true) }, String(rank(i)))),
        one.totals === null ? null : el("td", { class: "number" }, short(one.totals[i])),
        el("td", { class: "number" }, score(one.scores[i])),
        one.systems ? el("td", {}, bdi(systems(one, i))) : null,
        el("td", {}, tags, i === 0 ? bdi(one.texts[0]) : marked(diff(one.texts[0], one.texts[i]).to, "ins")));
    };
    const more = el("button", { type: "button", onclick: () => { for (let n = 0; n < 100; n++) append(); } }, "Show more");
    const append = () => {
      if (body.childElementCount < candidates) body.append(row(body.childElementCount));
      more.hidden = body.childElementCount >= candidates;
    };
    for (let i = 0; i < Math.min(candidates, 100); i++) append();
    body.addEventListener("keydown", (event) => {
      const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: candidates - 1 }[event.key];
      if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      if (to >= 0 && to < candidates) choose(to, true);
    });
    more.hidden = body.childElementCount >= candidates;
    choose(one.oracle, false);
    const size = data.sizes[k];
    const caption = `${size.toLocaleString("en")} hypotheses` + (candidates < size ? `, of which ${candidates.toLocaleString("en")} are in this page` : "") + ". Words that the chosen one lacks are marked. A rank takes its hypothesis apart; so do the arrow keys.";
    return [
      el("h3", {}, `Sentence ${data.ids[k]}`),
      el("dl", {},
        one.source === null ? null : [el("dt", {}, "source"), el("dd", {}, bdi(one.source))],
        one.references.map((text) => [el("dt", {}, "reference"), el("dd", {}, bdi(text))]).flat(),
        el("dt", {}, "baseline"), el("dd", {}, bdi(one.baseline), ` (${score(data.base[k])})`)),
      el("div", { class: "candidates", role: "region", "aria-label": "Hypotheses", tabindex: 0 },
        el("table", {}, el("caption", { class: "hidden" }, caption),
          el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col", class: ["hypothesis", "system"].includes(head) ? null : "number" }, head)))), body)),
      el("p", {}, caption), more,
    ];
  };

  const valueOf = (column, i) => {
    if (column === null || typeof column === "number") return column;
    if (Array.isArray(column)) return column[i];
    const at = column.rows.indexOf(i);
    return at < 0 ? 0 : column.values[at];
  };

  const taken = (k, one, names, i, rank) => {
    const weighted = names.weights !== null;
    const others = [...new Set([i, 0, one.oracle])];
    const called = (j) => [j === i ? `hypothesis ${rank(j)}` : null, j === 0 ? "chosen" : null, j === one.oracle ? "oracle" : null].filter(Boolean).join(", ");
    const rows = one.features.map((feature, f) => {
      const weight = weighted ? names.weights[feature] : 1;
      const values = others.map((j) => valueOf(one.columns[f], j));
      const parts = values.map((value) => (value === null ? 0 : value * weight));
      return { name: names.names[feature], weight, values, parts, deltas: parts.slice(1).map((part) => parts[0] - part) };
    });
    const size = (row) => Math.max(0, ...row.deltas.map(Math.abs));
    rows.sort((a, b) => size(b) - size(a) || (a.name < b.name ? -1 : 1));
    const largest = Math.max(0, ...rows.map(size));
    const unit = weighted ? "weight \u00d7 value" : "value";
    const top = el("tr", {}, el("td", { colspan: weighted ? 2 : 1 }),
      others.map((j) => el("th", { scope: "colgroup", colspan: weighted ? 2 : 1, class: "number" }, called(j))),
      others.slice(1).map((j) => el("th", { scope: "colgroup", colspan: 2 }, `difference to ${j === 0 ? "chosen" : "oracle"}`)));
    const under = el("tr", {}, el("th", { scope: "col" }, "feature"),
      weighted ? el("th", { scope: "col", class: "number" }, "weight") : null,
      others.map(() => [weighted ? el("th", { scope: "col", class: "number" }, "value") : null, el("th", { scope: "col", class: "number" }, weighted ? "\u00d7 weight" : "value")]).flat(),
      others.slice(1).map(() => el("th", { scope: "col", colspan: 2, class: "number" }, unit)));
    const body = el("tbody");
    const more = el("button", { type: "button", onclick: () => append(rows.length) }, `Show all ${rows.length.toLocaleString("en")} features`);
    const append = (to) => {
      for (const row of rows.slice(body.childElementCount, to)) {
        body.append(el("tr", { class: row.deltas.length && !size(row) ? "same" : null },
          el("th", { scope: "row" }, bdi(row.name)),
          weighted ? el("td", { class: "number" }, short(row.weight)) : null,
          row.values.map((value, j) => [weighted ? el("td", { class: "number" }, short(value)) : null, el("td", { class: "number" }, short(weighted ? row.parts[j] : value))]).flat(),
          row.deltas.map((delta) => [el("td", { class: "number" }, short(delta)), el("td", {}, bar(delta, largest))]).flat()));
      }
      more.hidden = body.childElementCount >= rows.length;
    };
    append(rows.length > ROWS + 10 ? ROWS : rows.length);
    // The totals of the list were added up with all digits.
    const sums = others.map((at, j) => one.totals?.[at] ?? rows.reduce((sum, row) => sum + row.parts[j], 0));
    const foot = weighted ? el("tfoot", {}, el("tr", {}, el("th", { scope: "row", colspan: 2 }, "total"),
      sums.map((sum) => [el("td"), el("td", { class: "number" }, short(sum))]).flat(),
      sums.slice(1).map((sum) => [el("td", { class: "number" }, short(sums[0] - sum)), el("td")]).flat())) : null;
    const words = i === 0 ? null : diff(one.texts[0], one.texts[i]);
    const beside = i === one.oracle ? null : diff(one.texts[i], one.texts[one.oracle]);
    const own = systems(one, i) ? ` (${systems(one, i)})` : "";
    return [
      el("h3", {}, `Taken apart: ${called(i)}${own}`),
      el("dl", {},
        words ? [el("dt", {}, "chosen"), el("dd", {}, marked(words.from, "del")), el("dt", {}, `hypothesis ${rank(i)}`), el("dd", {}, marked(words.to, "ins"))] : [el("dt", {}, `hypothesis ${rank(i)}`), el("dd", {}, bdi(one.texts[i]))],
        beside ? [el("dt", {}, "oracle"), el("dd", {}, marked(beside.to, "ins"))] : null),
      rows.length ? el("div", { class: "scroll", role: "region", "aria-label": "Features", tabindex: 0 }, el("table", { id: "parts" }, el("caption", {}, "Features that make the greatest difference first."), el("thead", {}, top, under), body, foot)) : el("p", {}, "The list has no features."),
      more, tree(one, i),
    ];
  };

  // A tree drawn from the leaves up: each leaf has the next place, a node stands above the middle of its children.
  const tree = (one, i) => {
    const walked = one.trees?.[i];
    if (!walked) return null;
    const STEP = 44;
    const ends = [];
    const open = [];
    let x = 8;
    let deepest = 0;
    const close = (node) => {
      const inside = node.children;
      if (!inside.length) {
        node.x = x + 4 * node.text.length + 8;
        x += 8 * node.text.length + 16;
      } else {
        node.x = (inside[0].x + inside[inside.length - 1].x) / 2;
      }
      ends.push(node);
    };
    for (const token of walked) {
      if (token === 0) {
        close(open.pop());
        continue;
      }
      const node = { text: Array.isArray(token) ? token[0] : token, depth: open.length, children: [], leaf: typeof token === "string" };
      deepest = Math.max(deepest, node.depth);
      if (open.length) open[open.length - 1].children.push(node);
      if (node.leaf) close(node);
      else open.push(node);
    }
    const y = (node) => 20 + node.depth * STEP;
    const height = 40 + deepest * STEP;
    const width = Math.max(x + 8, ...ends.map((node) => node.x + 4 * node.text.length + 8));
    const spelt = walked.map((token) => (token === 0 ? ")" : Array.isArray(token) ? ` (${token[0]}` : ` ${token}`)).join("").trim();
    return el("div", { class: "apart" },
      el("h3", {}, "Derivation"),
      el("div", { class: "tree", role: "region", "aria-label": "Derivation", tabindex: 0 },
        svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
          ends.map((node) => node.children.map((child) => svg("path", { d: `M${node.x} ${y(node) + 5}L${child.x} ${y(child) - 14}` }))).flat(),
          ends.map((node) => svg("text", { x: node.x, y: y(node), class: node.leaf ? null : "label" }, node.text)))),
      el("details", {}, el("summary", {}, "As brackets"), el("p", {}, bdi(spelt))));
  };

  part("browser", browser);
  part("wins", cases);
})();
