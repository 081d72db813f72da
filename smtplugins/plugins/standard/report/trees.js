
(() => {
  const { data, el, svg, bdi, short, unpack, select, labelled, replace, part } = tools;
  const trees = data?.trees;
  if (!trees?.ids.length) return;
  // Boxes have three lines; between two rows of them is room for the lines that join them.
  const LINE = 15;
  const BOX = 3 * LINE + 8;
  const ROW = BOX + 34;
  const WIDEST = 190;
  const COLOURS = 10;
  const PAUSE = 900;

  const pen = document.createElement("canvas").getContext("2d");
  const family = getComputedStyle(document.body).fontFamily;
  const width = (text, bold) => {
    pen.font = `${bold ? 600 : 400} 12px ${family}`;
    return pen.measureText(text).width;
  };
  const shortened = (text, bold) => {
    if (width(text, bold) <= WIDEST) return text;
    const letters = [...text];
    let from = 0;
    let to = letters.length;
    while (to - from > 1) {
      const middle = (from + to) >> 1;
      if (width(`${letters.slice(0, middle).join("")}\u2026`, bold) <= WIDEST) from = middle;
      else to = middle;
    }
    return `${letters.slice(0, from).join("")}\u2026`;
  };
  const spelt = (symbols) => symbols.map((one) => (typeof one === "number" ? `[${one + 1}]` : one)).join(" ");

  // The tree in the end, each rule with its place: a subtree has its own columns, so that no lines cross.
  const planned = (steps) => {
    const nodes = steps.map(([rule, lhs, source, target, score, , told], i) => {
      const lines = [`${i + 1} \u00b7 ${lhs} \u00b7 ${short(score)}`, spelt(source) || " ", spelt(target) || "\u2205"];
      const shown = lines.map((line, k) => shortened(line, !k));
      return { i, rule, told, source, target, shown, size: Math.max(...shown.map((line, k) => width(line, !k))) + 16, parent: null, kids: new Map(), level: 0, x: 0, y: 0, words: [] };
    });
    steps.forEach(([, , , , , joins], i) => {
      for (const [other, above, child] of joins) {
        const [upper, lower] = above ? [nodes[i], nodes[other]] : [nodes[other], nodes[i]];
        upper.kids.set(child, lower);
        lower.parent = upper;
      }
    });
    const top = nodes.find((one) => one.parent === null);
    const measured = (node) => {
      node.items = node.source.map((one) => {
        if (typeof one === "string") return { word: one, size: width(one, true) + 14 };
        const kid = node.kids.get(one);
        measured(kid);
        node.level = Math.max(node.level, kid.level + 1);
        return { kid, size: kid.room };
      });
      node.inner = node.items.reduce((sum, one) => sum + one.size, 0);
      node.room = Math.max(node.size + 14, node.inner);
    };
    measured(top);
    const levels = top.level;
    const put = (node, left) => {
      node.y = 10 + (levels - node.level) * ROW;
      let x = left + (node.room - node.inner) / 2;
      const middles = [];
      for (const one of node.items) {
        if (one.kid) put(one.kid, x);
        else node.words.push({ word: one.word, x: x + one.size / 2 });
        middles.push(one.kid ? one.kid.x : x + one.size / 2);
        x += one.size;
      }
      const middle = middles.length ? (middles[0] + middles[middles.length - 1]) / 2 : left + node.room / 2;
      const half = node.size / 2 + 7;
      node.x = Math.min(Math.max(middle, left + half), left + node.room - half);
    };
    put(top, 6);
    return { nodes, top, width: top.room + 12, bottom: 10 + (levels + 1) * ROW };
  };

  // The drawing, and what changes in it from step to step.
  const drawn = (tree) => {
    const { nodes, bottom } = tree;
    const path = (points) => `M${points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;
    const parts = [];
    const make = (tag, attributes, from, ...children) => {
      const made = svg(tag, attributes, ...children);
      parts.push({ made, from });
      return made;
    };
    const lines = [];
    const boxes = [];
    for (const node of nodes) {
      const foot = node.y + BOX;
      const bar = foot + 11;
      for (const one of node.words) {
        lines.push(make("path", { class: "leaf", d: path([[node.x, foot], [node.x, bar], [one.x, bar], [one.x, bottom - 4]]) }, node.i));
        boxes.push(make("text", { class: "word", x: one.x, y: bottom + 12 }, null, one.word));
        parts[parts.length - 1].word = node.i;
      }
      for (const kid of node.kids.values()) {
        const head = kid.y;
        const later = Math.max(node.i, kid.i);
        const [tip, end] = kid.i > node.i ? [head, head - 9] : [head - 10, head - 1];
        lines.push(
          make("path", { class: "edge", d: path([[node.x, foot], [node.x, bar], [kid.x, bar], [kid.x, head]]) }, later),
          make("polygon", { class: "tip", points: `${kid.x},${tip} ${kid.x - 6},${end} ${kid.x + 6},${end}` }, later));
      }
      const colour = nodes.length > 1 ? Math.round(node.i / (nodes.length - 1) * (COLOURS - 1)) : COLOURS - 1;
      const place = { x: node.x - node.size / 2, y: node.y, width: node.size, height: BOX, rx: 4 };
      boxes.push(make("rect", { ...place, class: "open" }, null));
      parts[parts.length - 1].open = node;
      boxes.push(make("g", { class: `rule order-${colour}` }, node.i,
        svg("title", {}, `${node.i + 1}. ${node.rule} ${node.told}`),
        svg("rect", place),
        node.shown.map((text, k) => svg("text", { x: node.x, y: node.y + (k + 1) * LINE, class: k ? null : "head" }, text))));
    }
    const height = bottom + 24;
    const image = svg("svg", { width: Math.ceil(tree.width), height, viewBox: `0 0 ${Math.ceil(tree.width)} ${height}`, "aria-hidden": "true" }, lines, boxes);
    const show = (count) => {
      const there = (one) => one !== null && one.i < count;
      for (const { made, from, word, open } of parts) {
        if (word !== undefined) made.classList.toggle("covered", word < count);
        else {
          // An open place is one beside a rule that is there.
          const shown = open ? !there(open) && (there(open.parent) || [...open.kids.values()].some(there)) : from < count;
          if (shown) made.removeAttribute("display");
          else made.setAttribute("display", "none");
          if (!open) made.classList.toggle("new", from === count - 1);
        }
      }
    };
    return { image, show };
  };

  // What is there of the translation: pieces from left to right, with a box for each open place in and around them.
  const partial = (tree, count) => {
    const gap = () => el("span", { class: "gap", role: "img", "aria-label": "open" });
    const words = (node) => node.target.map((one) => {
      if (typeof one === "string") return node.i === count - 1 ? el("ins", {}, one) : one;
      const kid = node.kids.get(one);
      return kid.i < count ? words(kid) : gap();
    }).flat();
    const pieces = tree.nodes.filter((one) => one.i < count && (one.parent === null || one.parent.i >= count));
    pieces.sort((a, b) => a.x - b.x);
    const spaced = (given) => given.flatMap((one, k) => (k ? [" ", one] : [one]));
    return pieces.map((one) => {
      const inside = spaced(words(one));
      return el("span", { class: "piece" }, one === tree.top ? inside : [gap(), " ", ...inside, " ", gap()]);
    });
  };

  part("built", (place) => {
    const choice = select(Object.fromEntries(trees.ids.map((id, k) => [k, `${id}: ${trees.sizes[k]} steps`])), { id: "tree-of" });
    const to = (by) => el("button", { type: "button", onclick: () => {
      const next = choice.selectedIndex + by;
      if (next >= 0 && next < choice.length) { choice.selectedIndex = next; open(); }
    } }, by < 0 ? "Previous" : "Next");
    const play = el("button", { type: "button", id: "tree-play" }, "Play");
    const slider = el("input", { type: "range", id: "tree-step", min: 1, step: 1 });
    const single = (by, name, sign) => el("button", { type: "button", "aria-label": name, onclick: () => { stop(); go(Number(slider.value) + by); } }, sign);
    const shown = el("span", { class: "count" });
    const whole = el("input", { type: "checkbox", id: "tree-fit" });
    const told = el("p", { id: "tree-told" });
    const text = el("p", { id: "tree-text" });
    const box = el("div", { class: "grown", role: "region", "aria-label": "Tree", tabindex: 0 });
    const head = el("dl");
    const steps = el("div", { class: "controls" }, play, single(-1, "Step back", "\u2212"), labelled("Step", slider), single(1, "Step on", "+"), shown, el("label", {}, whole, "whole tree in view"));
    const list = el("div");
    const panel = el("div", {}, head, steps, told, text, box, list);
    let now = null;
    let waiting = 0;
    let turn = 0;
    const stop = () => {
      clearTimeout(waiting);
      waiting = 0;
      play.textContent = "Play";
    };
    const go = (step) => {
      if (now === null) return;
      const count = Math.min(Math.max(step, 1), now.tree.nodes.length);
      const node = now.tree.nodes[count - 1];
      slider.value = count;
      shown.textContent = `${count} of ${now.tree.nodes.length}`;
      slider.setAttribute("aria-valuetext", `${count} of ${now.tree.nodes.length}: ${node.rule} ${node.told}`);
      now.drawing.show(count);
      replace(told, `Step ${count}: `, el("code", {}, bdi(node.rule)), ` ${node.told}`);
      replace(text, ...partial(now.tree, count));
      // The new rule comes into view, unless all of the tree is.
      if (whole.checked) return;
      const [x, y] = [node.x, node.y + BOX / 2];
      const room = [box.clientWidth, box.clientHeight];
      if (x - node.size / 2 < box.scrollLeft || x + node.size / 2 > box.scrollLeft + room[0]) box.scrollLeft = x - room[0] / 2;
      if (y - BOX < box.scrollTop || y + BOX > box.scrollTop + room[1]) box.scrollTop = y - room[1] / 2;
    };
    const on = () => {
      go(Number(slider.value) + 1);
      if (Number(slider.value) < now.tree.nodes.length) waiting = setTimeout(on, PAUSE);
      else stop();
    };
    const open = async () => {
      stop();
      const mine = ++turn;
      const k = choice.selectedIndex;
      const one = await unpack(trees.blocks[k]);
      if (mine !== turn) return;
      replace(head, el("dt", {}, "source"), el("dd", {}, bdi(one.source)), el("dt", {}, "translation"), el("dd", {}, bdi(one.translation)), ...(one.score === null ? [] : [el("dt", {}, "score"), el("dd", {}, short(one.score))]));
      now = null;
      for (const part of [steps, told, text, box]) part.hidden = !one.steps.length;
      if (!one.steps.length) {
        replace(list, el("p", {}, "This sentence has no tree."));
        return;
      }
      const tree = planned(one.steps);
      now = { tree, drawing: drawn(tree) };
      replace(box, now.drawing.image);
      box.scrollTop = 0;
      slider.max = one.steps.length;
      go(one.steps.length);
      replace(list, el("details", {}, el("summary", {}, "As a list"), el("ol", {}, tree.nodes.map((node) => el("li", {}, el("code", {}, bdi(node.rule)), ` ${node.told}`)))));
    };
    play.addEventListener("click", () => {
      if (waiting) { stop(); return; }
      play.textContent = "Stop";
      if (Number(slider.value) === now.tree.nodes.length) go(1);
      waiting = setTimeout(on, PAUSE);
    });
    slider.addEventListener("input", () => { stop(); go(Number(slider.value)); });
    whole.addEventListener("change", () => {
      box.classList.toggle("whole", whole.checked);
      go(Number(slider.value));
    });
    choice.addEventListener("change", open);
    const scale = svg("svg", { class: "scale", width: 120, height: 14, viewBox: "0 0 120 14", "aria-hidden": "true" },
      [...Array(COLOURS).keys()].map((k) => svg("g", { class: `rule order-${k}` }, svg("rect", { x: 12 * k, y: 1, width: 12, height: 12 }))));
    replace(place,
      el("div", { class: "controls" }, labelled("Sentence", choice), to(-1), to(1), el("span", { class: "count" }, "first step ", scale, " last step")),
      panel);
    open();
  });
})();
