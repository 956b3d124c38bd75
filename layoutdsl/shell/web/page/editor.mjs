// The text: a text area over its own colours, with numbers of lines and faults underlined.

import { coloured, painted, span } from "./colour.mjs";

const source = document.getElementById("source");
const numbers = document.getElementById("numbers");
const colours = document.getElementById("colours");
const faults = document.getElementById("faults");
const title = document.getElementById("faults-title");
const start = document.getElementById("start");

let marks = [];
let lines = 0;
let heard = () => {};
let explained = async () => "";

// Call `listener` at every change that somebody makes.
export function onEdit(listener) {
  heard = listener;
}

// Say who explains a code: `ask("L202")` returns words.
export function onExplain(ask) {
  explained = ask;
}

export function text() {
  return source.value;
}

export function setText(words) {
  source.value = words;
  marks = [];
  paint();
  source.setSelectionRange(0, 0);
  source.closest(".editor").scrollTo(0, 0);
}

function paint() {
  const words = source.value;
  colours.replaceChildren(painted(words, coloured(words), marks));
  const count = words.split("\n").length;
  if (count === lines) return;
  lines = count;
  const items = Array.from({ length: count }, (_, k) => {
    const item = document.createElement("li");
    item.textContent = String(k + 1);
    return item;
  });
  numbers.replaceChildren(...items);
}

// What is put in at once may come as a change for each line: it is painted once, with the next frame.
let waits = false;

function paintSoon() {
  if (waits) return;
  waits = true;
  requestAnimationFrame(() => {
    waits = false;
    paint();
  });
}

// Show the faults and warnings of a text, of which `words` is what was looked at.
export function showFaults(words, diagnostics, otherwise = "") {
  if (words !== source.value) return;
  start.hidden = true;
  marks = diagnostics.flatMap((each) =>
    each.places.map((place, k) => ({
      ...span(words, place),
      kind: k ? "beside" : each.severity === "warning" ? "warned" : "fault",
    })),
  );
  paint();
  const wrong = diagnostics.filter((each) => each.severity !== "warning").length;
  const counted = (count, word) => (count ? [`${count} ${word}${count === 1 ? "" : "s"}`] : []);
  const said = [...counted(wrong, "fault"), ...counted(diagnostics.length - wrong, "warning")];
  title.textContent = otherwise || said.join(", ") || "well formed";
  title.className = wrong || otherwise ? "bad" : diagnostics.length ? "doubtful" : "good";
  numbers.querySelectorAll(".bad").forEach((each) => each.classList.remove("bad"));
  for (const each of diagnostics) numbers.children[each.places[0]?.line - 1]?.classList.add("bad");
  faults.replaceChildren(...diagnostics.map((each) => item(words, each)));
}

// An empty text has no faults, and no praise either.
export function showEmpty(starts) {
  marks = [];
  paint();
  title.textContent = "The text is empty.";
  title.className = "";
  faults.replaceChildren();
  start.replaceChildren("Write a layout, or start with an example:", ...starts);
  start.hidden = false;
}

function item(words, { code, message, places, help, mend, severity }) {
  const whole = document.createElement("li");
  whole.className = severity;
  const [place] = places;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = `${place ? `${place.line}:${place.column}  ` : ""}${message}`;
  button.title = `${severity} ${code}`;
  button.addEventListener("click", () => place && select(span(source.value, place)));
  whole.append(button);
  if (code) whole.append(...explanation(code));
  if (help) {
    const line = document.createElement("p");
    line.textContent = `help: ${help}`;
    whole.append(line);
  }
  if (mend) {
    const change = document.createElement("button");
    change.type = "button";
    change.className = "mend";
    change.textContent = "mend";
    change.setAttribute("aria-label", `mend: ${help ?? message}`);
    change.addEventListener("click", () => {
      if (source.value === words) replace(span(words, mend), mend.length, mend.text);
    });
    whole.append(change);
  }
  return whole;
}

// The code, which opens its explanation below the message.
function explanation(code) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "code";
  button.textContent = code;
  button.title = `explain ${code}`;
  button.setAttribute("aria-expanded", "false");
  const words = document.createElement("pre");
  words.className = "explained";
  words.hidden = true;
  button.addEventListener("click", async () => {
    words.hidden = !words.hidden;
    button.setAttribute("aria-expanded", String(!words.hidden));
    if (!words.textContent) words.textContent = await explained(code);
  });
  return [button, words];
}

function select({ start, end }) {
  source.focus();
  source.setSelectionRange(start, end);
}

function replace({ start, end }, length, put) {
  source.focus();
  source.setSelectionRange(start, length ? end : start);
  source.setRangeText(put, start, length ? end : start, "end");
  source.dispatchEvent(new Event("input"));
}

source.addEventListener("input", () => {
  marks = []; // their places are no longer right
  paintSoon();
  heard();
});
