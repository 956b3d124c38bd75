// Every layout, table and record of the library, proved by the Python of the playground in node: the
// same verdicts as the shell's, with the same counterexamples.
//
//     node tests/support/playground_library.mjs SITE [LAYOUTDSL [NAME...]]
//
// SITE is what docs/playground/build.py wrote, LAYOUTDSL the shell's program. It ends with 1 where any
// verdict is another, and takes some minutes.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";

const [given = "site", program = "layoutdsl", ...named] = process.argv.slice(2);
const site = resolve(given);

async function start(folder) {
  for (const name of ["pyodide.mjs", "pyodide.asm.mjs", "python_stdlib.zip"]) {
    copyFileSync(join(site, name), join(folder, name));
  }
  copyFileSync(join(site, "lock.json"), join(folder, "pyodide-lock.json"));
  const packed = readFileSync(join(site, "pyodide.asm.wasm.bin"));
  writeFileSync(join(folder, "pyodide.asm.wasm"), gunzipSync(packed));
  const { loadPyodide } = await import(pathToFileURL(join(folder, "pyodide.mjs")).href);
  const python = await loadPyodide({ indexURL: `${folder}/` });
  for (const name of ["first.zip", "proving.zip"]) {
    const content = new Uint8Array(readFileSync(join(site, name)));
    python.unpackArchive(content.buffer, "zip", { extractDir: "/packages" });
  }
  return python.runPython(`
import json, sys
sys.path.insert(0, "/packages")
from layoutdsl.shell.answering import answer
lambda name: answer({"arguments": ["prove", name, "--json"]})["output"]
`);
}

// What a verdict says, without how long it took and how often the solver was asked.
function said({ claims }) {
  return claims.map(({ claim, status, passed, findings }) => {
    const found = findings.map(({ property, status: each, sentence, shape, points, reason }) => ({
      property, status: each, sentence, shape, points, reason,
    }));
    return JSON.stringify({ claim, status, passed, found });
  });
}

function shellSays(name) {
  const options = { encoding: "utf8", maxBuffer: 1 << 28 };
  try {
    return JSON.parse(execFileSync(program, ["prove", name, "--json"], options));
  } catch (ended) {
    if (ended.stdout) return JSON.parse(ended.stdout); // it ends with 1 where something is refuted
    throw ended;
  }
}

const families = JSON.parse(readFileSync(join(site, "examples.json"), "utf8"));
const names = named.length ? named : Object.values(families).flatMap((each) => Object.keys(each));
const folder = mkdtempSync(join(tmpdir(), "playground-"));
let claims = 0;
let wrong = 0;
try {
  const prove = await start(folder);
  const begun = process.cpuUsage();
  for (const name of names) {
    const output = prove(name);
    const [here, there] = [said(JSON.parse(output)), said(shellSays(name))];
    claims += here.length;
    if (here.join("\n") !== there.join("\n")) {
      wrong += 1;
      console.error(`${name} differs:\n  here   ${here.join("\n         ")}\n  shell  ${there.join("\n         ")}`);
    }
  }
  const seconds = process.cpuUsage(begun).user / 1e6;
  const words = wrong ? `${wrong} of them otherwise than the shell` : "as the shell proves them";
  console.log(`${names.length} names, ${claims} claims, ${words}  (${seconds.toFixed(0)} s of processor)`);
} finally {
  rmSync(folder, { recursive: true });
}
process.exitCode = wrong ? 1 : 0;
