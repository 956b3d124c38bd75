// Colours of a text, and what is underlined in it; both as nodes, nothing as markup.

let rules = [];

// Rules are pairs of a pattern and a class for each of its groups, or for all of it.
export async function loadRules() {
  const found = await (await fetch("colours.json")).json();
  rules = found.map(([pattern, classes]) => [new RegExp(pattern, "my"), classes]);
}

// Return [{start, end, kind}], in order; what has no colour is left out.
export function coloured(text) {
  const found = [];
  let place = 0;
  while (place < text.length) {
    const length = ruleAt(text, place, found);
    place += length || 1;
  }
  return found;
}

function ruleAt(text, place, found) {
  for (const [pattern, classes] of rules) {
    pattern.lastIndex = place;
    const match = pattern.exec(text);
    if (!match || !match[0]) continue;
    const parts = classes.length === 1 ? [match[0]] : match.slice(1);
    let start = place;
    parts.forEach((part, number) => {
      const end = start + (part ?? "").length;
      if (classes[number] && end > start) found.push({ start, end, kind: classes[number] });
      start = end;
    });
    return match[0].length;
  }
  return 0;
}

// Return a fragment of a text, cut wherever a colour or a mark begins or ends.
export function painted(text, colours, marks) {
  const cuts = new Set([0, text.length]);
  for (const each of [...colours, ...marks]) cuts.add(each.start).add(each.end);
  const places = [...cuts].filter((each) => each <= text.length).sort((a, b) => a - b);
  const whole = document.createDocumentFragment();
  let next = 0;
  for (let k = 0; k + 1 < places.length; k += 1) {
    const [start, end] = [places[k], places[k + 1]];
    while (next < colours.length && colours[next].end <= start) next += 1;
    const colour = next < colours.length && colours[next].start <= start ? colours[next].kind : "";
    const over = marks.filter((each) => each.start <= start && end <= each.end);
    whole.append(part(text.slice(start, end), colour, over));
  }
  whole.append("\n"); // so that an empty last line has a height
  return whole;
}

function part(text, colour, marks) {
  if (!colour && !marks.length) return document.createTextNode(text);
  const node = document.createElement("span");
  node.textContent = text;
  if (colour) node.classList.add(`t-${colour}`);
  for (const each of marks) node.classList.add(each.kind);
  return node;
}

// Return where a place of a diagnostic lies: lines and columns count characters, from 1.
export function span(text, { line, column, length }) {
  let start = 0;
  for (let k = 1; k < line; k += 1) {
    const next = text.indexOf("\n", start);
    if (next < 0) break;
    start = next + 1;
  }
  start = ahead(text, start, column - 1);
  const end = Math.max(ahead(text, start, length), Math.min(start + 1, text.length));
  return { start: end === start ? Math.max(0, start - 1) : start, end };
}

// Characters beyond the first plane take two units here, and one in a diagnostic.
function ahead(text, place, characters) {
  for (let k = 0; k < characters && place < text.length; k += 1) {
    place += text.codePointAt(place) > 0xffff ? 2 : 1;
  }
  return place;
}
