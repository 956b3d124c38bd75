// The page: what is typed is checked and drawn at once, and proved when somebody asks.

import { Stopped, answerer } from "./answers.mjs";
import { loadRules } from "./colour.mjs";
import * as editor from "./editor.mjs";
import { fill, starts } from "./examples.mjs";
import { latest } from "./latest.mjs";
import * as results from "./results.mjs";
import * as share from "./share.mjs";
import * as verdicts from "./verdicts.mjs";

const PAUSE = 300; // milliseconds without a key before a text is looked at
const FIRST = `# Four claims. Change a number, and see which still hold.
layout NCHW16(n, c, h, w) = [n, c/16, h, w, c%16] fill 0

prove NCHW16 == ((n*ceil(C/16) + c/16)*H*W + h*W + w)*16 + c%16
prove NCHW16 keeps c%16 contiguous
prove NCHW16 == ((n*(C/16) + c/16)*H*W + h*W + w)*16 + c%16
`;

const byId = (name) => document.getElementById(name);
const [prove, stop, status, notice] = ["prove", "stop", "status", "notice"].map(byId);

let ready = { checking: false, proving: false };
let asked = false; // whether a proof waits for the prover
let proving = 0;
let typed;

const answers = answerer(heard);
results.begin(answers);
editor.onExplain(async (code) => {
  const { output, errors } = await answers.ask(["explain", code], "");
  return (output || errors).trim();
});

function heard({ loading, ready: what, failed }) {
  if (failed) warn(`Python has failed: ${failed}. Load the page again.`);
  if (loading) {
    say(loading);
    if (loading.startsWith("stopped")) ready = { checking: false, proving: false };
  }
  if (what === "checking") {
    ready.checking = true;
    document.documentElement.dataset.ready = "checking";
    look();
  }
  if (what === "proving") {
    ready.proving = true;
    document.documentElement.dataset.ready = "proving";
    performance.mark("provable");
    say("ready");
    results.nowProvable();
    if (asked) proveText();
  }
  mark();
}

function say(words) {
  status.textContent = words;
}

function warn(words) {
  notice.textContent = words;
  notice.hidden = !words;
}

function mark() {
  prove.disabled = proving > 0 || asked;
  stop.disabled = proving === 0;
  document.body.classList.toggle("busy", proving > 0);
}

const look = latest(async () => {
  const words = editor.text();
  if (!words.trim()) {
    editor.showEmpty(starts(byId("examples"), take, FIRST));
    verdicts.say("Verdicts stand here once there is something to prove.");
    results.clear();
    return;
  }
  if (!ready.checking) return;
  try {
    const answer = await answers.ask(["check", "{file}", "--format", "json"], words);
    const found = verdicts.read(answer.output);
    if (found === null) throw new Error((answer.errors || answer.output).trim());
    const unsaid = found.diagnostics.length || found.status === "ok" ? "" : found.message;
    editor.showFaults(words, found.diagnostics, unsaid);
    if (words !== editor.text()) return;
    if (found.status === "ok") results.offer(words, [...found.layouts, ...found.records]);
    else results.outdate();
  } catch (failure) {
    if (!(failure instanceof Stopped)) warn(failure.message);
  }
});

async function proveText() {
  if (!editor.text().trim()) {
    asked = false;
    look();
    return;
  }
  if (!ready.proving) {
    asked = true;
    verdicts.say("It is proved once the prover is loaded.");
    mark();
    return;
  }
  asked = false;
  proving += 1;
  mark();
  const words = editor.text();
  const begun = performance.now();
  const passed = () => `, ${Math.round((performance.now() - begun) / 1000)} s`;
  const clock = setInterval(() => (byId("clock").textContent = passed()), 1000); // seen, not read out
  say("proving");
  try {
    const found = await answers.ask(["prove", "{file}", "--json"], words);
    if (!editor.text().trim()) verdicts.clear();
    else verdicts.show(found, answers.name);
    if (words !== editor.text()) verdicts.outdate();
    say("ready");
  } catch (failure) {
    verdicts.say(failure instanceof Stopped ? "stopped: nothing was found" : failure.message);
    if (ready.proving) say("ready");
  }
  clearInterval(clock);
  byId("clock").textContent = "";
  proving -= 1;
  mark();
}

function take(text) {
  editor.setText(text);
  verdicts.clear();
  warn("");
  look();
  proveText();
}

editor.onEdit(() => {
  verdicts.outdate();
  byId("examples").value = "";
  clearTimeout(typed);
  typed = setTimeout(look, PAUSE);
});

prove.addEventListener("click", proveText);
stop.addEventListener("click", () => {
  results.unprovable();
  answers.stop();
  if (ready.proving) results.nowProvable();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  if (!prove.disabled) proveText();
});
byId("share").addEventListener("click", async () => {
  const address = await share.link(editor.text());
  if (address === null) {
    warn(share.TOO_LONG);
    return;
  }
  warn("");
  history.replaceState(null, "", address);
  const copied = await navigator.clipboard?.writeText(address).then(() => true, () => false);
  say(copied ? "the address is copied" : "the address of this page holds the text");
});
window.addEventListener("hashchange", opened);

async function opened() {
  try {
    const text = await share.linked();
    if (text !== undefined) take(text);
    return text !== undefined;
  } catch (failure) {
    warn(failure.message);
    return false;
  }
}

await loadRules();
await fill(byId("examples"), take);
if (answers.file) await (await import("./served.mjs")).follow(answers, take, warn, FIRST);
else if (!(await opened())) take(FIRST);
