// What is shown of one layout: its picture, its formula, its code, other notations.

import { Stopped } from "./answers.mjs";
import { latest } from "./latest.mjs";
import { proposed, usualParameters } from "./shapes.mjs";

const byId = (name) => document.getElementById(name);
const [chosen, parameters, shape] = ["layout", "parameters", "shape"].map(byId);
const [panel, said, picture, code] = ["panel", "said", "picture", "code"].map(byId);
const tabs = [...document.querySelectorAll("[role=tab]")];

const TABS = {
  formula: (target) => ["formula", target],
  c: (target) => ["generate", target, "--target", "c"],
  cuda: (target) => ["formula", target, "--as", "cuda"],
  triton: (target) => ["formula", target, "--as", "triton"],
  numpy: (target) => ["generate", target],
  notations: (target) => ["translate", target, "--to", "all"],
};
const WAITS = "once the prover is loaded";

let answers;
let subjects = [];
let text = "";
let written = false; // whether somebody wrote a shape for what is chosen
let provable = false;

export function begin(answerer) {
  answers = answerer;
}

// A text that is well formed: what can be shown of it.
export function offer(words, found) {
  text = words;
  subjects = found;
  const before = chosen.value;
  chosen.replaceChildren(...found.map(({ name }) => new Option(name, name)));
  const kept = found.some(({ name }) => name === before);
  if (kept) chosen.value = before;
  if (!kept) written = false;
  settle();
  refresh();
}

// The text is not well formed: what is shown is of the last one that was.
export function outdate() {
  panel.classList.add("old");
}

// The text is empty: there is nothing to show.
export function clear() {
  text = "";
  subjects = [];
  written = false;
  chosen.replaceChildren();
  settle();
  picture.removeAttribute("srcdoc");
  reveal(null);
  tell("The picture of a layout stands here, and the code for it.");
}

export function nowProvable() {
  provable = true;
  if (tab() !== "picture") refresh();
}

export function unprovable() {
  provable = false;
}

function subject() {
  return subjects.find(({ name }) => name === chosen.value);
}

// Fill in what nobody has written: parameters, and a shape.
function settle() {
  const found = subject();
  const named = found?.parameters ?? [];
  const label = byId("parameters-label");
  if (label.hidden !== !named.length || parameters.dataset.of !== named.join()) {
    label.hidden = !named.length;
    parameters.dataset.of = named.join();
    parameters.value = found ? usualParameters(found) : "";
    parameters.placeholder = named.join(",");
  }
  shape.placeholder = found ? found.axes.map(({ extent }) => extent).join(",") : "";
  if (!written) shape.value = found ? proposed(found)[0] : "";
}

function target() {
  const with_ = parameters.value.trim();
  return `{file}:${chosen.value}${subject().parameters.length && with_ ? `<${with_}>` : ""}`;
}

function tab() {
  return tabs.find((each) => each.getAttribute("aria-selected") === "true").id.slice(4);
}

const refresh = latest(async () => {
  if (!subject()) {
    tell("The text declares no layout and no record.");
    return;
  }
  try {
    await (tab() === "picture" ? draw() : write(tab()));
  } catch (failure) {
    tell(failure instanceof Stopped ? "stopped" : failure.message);
  }
});

async function draw() {
  const [words, found] = [text, subject()];
  const tries = written ? [shape.value.trim()] : proposed(found);
  let first;
  for (const each of tries) {
    const asked = ["show", target(), "--shape", each, "--as", "html"];
    const answer = await answers.ask(asked, words);
    first ??= answer;
    if (answer.exit !== 0) continue;
    if (tab() !== "picture" || words !== text) return;
    if (!written) shape.value = each;
    reveal(picture); // first: a picture that is drawn where nobody sees it has no width
    // Only what changes is put there: a frame that is filled again forgets where it was.
    if (picture.srcdoc !== answer.output) picture.srcdoc = answer.output;
    tell("");
    return;
  }
  panel.classList.add("old");
  tell((first.errors || first.output).trim(), "wrong");
}

async function write(kind) {
  if (!provable) tell(`It is written ${WAITS}.`);
  const answer = await answers.ask(TABS[kind](target()), text);
  if (tab() !== kind) return;
  if (answer.exit !== 0 && !answer.output) {
    reveal(null);
    tell(answer.errors.trim(), "wrong");
    return;
  }
  code.querySelector("pre").textContent = answer.output;
  reveal(code);
  tell(answer.errors.trim());
}

function reveal(one) {
  for (const each of [picture, code]) each.hidden = each !== one;
  panel.classList.remove("old");
}

function tell(words, look = "") {
  said.textContent = words;
  said.className = look;
}

function open(one) {
  for (const each of tabs) {
    each.setAttribute("aria-selected", String(each === one));
    each.tabIndex = each === one ? 0 : -1;
  }
  panel.setAttribute("aria-labelledby", one.id);
  reveal(one.id === "tab-picture" && picture.srcdoc ? picture : null);
  tell("");
  refresh();
}

tabs.forEach((each, number) => {
  each.addEventListener("click", () => open(each));
  each.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -number, End: tabs.length - 1 - number }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = tabs[(number + step + tabs.length) % tabs.length];
    next.focus();
    open(next);
  });
});

chosen.addEventListener("change", () => {
  written = false;
  settle();
  refresh();
});
shape.addEventListener("input", () => {
  written = shape.value.trim() !== "";
  settle();
  refresh();
});
parameters.addEventListener("input", refresh);
byId("copy").addEventListener("click", async () => {
  const text = code.querySelector("pre");
  const copied = await navigator.clipboard?.writeText(text.textContent).then(() => true, () => false);
  if (!copied) getSelection().selectAllChildren(text);
  tell(copied ? "copied" : "the text is selected: copy it by the keys of your system");
});
