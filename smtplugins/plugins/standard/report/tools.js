
"use strict";
// What all parts of the page are made with.
const tools = (() => {
  // Texts of the data only ever become text nodes and attribute values: nothing here makes markup of them.
  const SVG = "http://www.w3.org/2000/svg";
  const data = JSON.parse(document.getElementById("data").textContent);

  const fill = (made, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : String(value));
    }
    made.append(...children.flat().filter((one) => one !== null && one !== undefined));
    return made;
  };
  const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
  const bdi = (text) => el("bdi", { class: "text" }, text);
  const say = (text) => { document.getElementById("said").textContent = text; };

  const minus = (text) => text.replace("-", "\u2212");
  const short = (value) => {
    if (value === null || value === undefined) return "\u2013";
    const size = Math.abs(value);
    if (value !== 0 && (size < 1e-4 || size >= 1e7)) return minus(value.toExponential(3));
    return minus(String(Number(value.toFixed(size >= 1000 ? 1 : 4))));
  };
  // Blocks are base64 of deflated JSON.
  const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };
  const select = (options, attributes) =>
    el("select", attributes, Object.entries(options).map(([value, text]) => el("option", { value }, text)));
  const labelled = (text, control) => el("label", {}, text, control);
  const replace = (place, ...parts) => place.replaceChildren(...parts.flat().filter((one) => one !== null));

  // A part of the page whose frame holds what is there without a script.
  const part = (id, make) => {
    const place = el("div");
    document.querySelector(`#${id} > noscript`).after(place);
    if (typeof DecompressionStream === "undefined") place.append(el("p", {}, "This part needs a browser of 2023 or later."));
    else make(place);
  };

  return { data, el, svg, bdi, say, short, minus, unpack, select, labelled, replace, part };
})();
