// Python in a worker: parser, pictures and prover, without a server.
//
// It is told   {number, request}    and answers   {number, response}; `response` is what
// `layoutdsl.shell.answering.answer` returns. Besides it says how far loading is: {loading: words},
// {ready: "checking"} once texts can be checked and drawn, {ready: "proving"} once they can be proved,
// {failed: words}. What loads behind the first of these does so in steps, between which it answers.

const PACKAGES = "/packages";
const STEPS = [
  "import z3",
  "import mpmath",
  "import sympy.core",
  "import sympy.polys",
  "import sympy.functions",
  "import sympy.solvers",
  "import sympy",
  "import layoutdsl.commands, layoutdsl.shell.proofs, layoutdsl.shell.verdicts, layoutdsl.proof.prover.check",
];
const PROVING = ["prove", "formula", "cost", "diff", "identify", "translate", "generate"];

const waiting = [];
let python, answer, provable = false;

function say(message) {
  self.postMessage(message);
}

async function fetched(name) {
  const response = await fetch(new URL(name, import.meta.url));
  if (!response.ok) throw new Error(`${name} cannot be loaded: ${response.status}`);
  return response;
}

// The runtime lies compressed on the server, so that the size does not depend on its settings.
const plainFetch = self.fetch.bind(self);
self.fetch = async (place, options) => {
  const url = typeof place === "string" ? place : place.url ?? String(place);
  if (!url.endsWith("/pyodide.asm.wasm")) return plainFetch(place, options);
  const packed = await plainFetch(`${url}.bin`, options);
  if (!packed.ok) return packed;
  const opened = packed.body.pipeThrough(new DecompressionStream("gzip"));
  return new Response(opened, { headers: { "Content-Type": "application/wasm" } });
};

async function unpack(name) {
  const buffer = await (await fetched(name)).arrayBuffer();
  python.unpackArchive(buffer, "zip", { extractDir: PACKAGES });
}

async function boot() {
  say({ loading: "loading Python, 1 of 3" });
  const archive = fetched("first.zip"); // while Python starts
  archive.catch(() => {});
  const { loadPyodide } = await import(new URL("pyodide.mjs", import.meta.url).href);
  const here = new URL(".", import.meta.url).href;
  python = await loadPyodide({ indexURL: here, lockFileURL: `${here}lock.json` });
  say({ loading: "loading the language, 2 of 3" });
  const buffer = await (await archive).arrayBuffer();
  python.unpackArchive(buffer, "zip", { extractDir: PACKAGES });
  python.runPython(`import sys; sys.path.insert(0, "${PACKAGES}")`);
  answer = python.runPython(`
import json
from layoutdsl.shell.answering import answer
lambda text: json.dumps(answer(json.loads(text)))
`);
  respond({ arguments: ["check", "{file}", "--format", "json"], text: "layout A(n) = [n]", name: "first.layout" });
  say({ ready: "checking" });
  say({ loading: "loading the prover, 3 of 3; texts are checked and drawn" });
  await between();
  await unpack("proving.zip");
  for (const step of STEPS) {
    await between();
    python.runPython(step);
  }
  provable = true;
  say({ ready: "proving" });
  await between();
}

function respond(request) {
  return JSON.parse(answer(JSON.stringify(request)));
}

// Answers what has come in meanwhile, and can be answered by now.
async function between() {
  await new Promise((resolve) => setTimeout(resolve, 0));
  for (let next; (next = take()) !== undefined; ) {
    say({ number: next.number, response: respond(next.request) });
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

function take() {
  const place = waiting.findIndex((each) => provable || !PROVING.includes(each.request.arguments[0]));
  return place < 0 ? undefined : waiting.splice(place, 1)[0];
}

let busy = true;
self.onmessage = async ({ data }) => {
  waiting.push(data);
  if (busy) return;
  busy = true;
  try {
    await between();
  } catch (failure) {
    say({ failed: String(failure.message ?? failure) });
  }
  busy = false;
};

boot().then(
  () => { busy = false; return waiting.length ? self.onmessage({ data: waiting.pop() }) : undefined; },
  (failure) => say({ failed: String(failure.message ?? failure) }),
);
