// Runs `archives.py` in Pyodide, whose Python makes what the page's Python reads.
//
//     node archives.mjs PYODIDE WHEELS RESULTS        three folders; prints what was left out, as JSON

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [pyodide, wheels, results] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(join(pyodide, "pyodide.mjs")).href);
const python = await loadPyodide({ indexURL: pyodide + "/", stdout: () => {} });
python.FS.mkdir("/wheels");
python.FS.mkdir("/results");
for (const name of readdirSync(wheels)) {
  python.FS.writeFile(`/wheels/${name}`, new Uint8Array(readFileSync(join(wheels, name))));
}
python.runPython(readFileSync(new URL("archives.py", import.meta.url), "utf8"));
const said = python.runPython('make("/wheels", "/results")');
for (const name of ["first.zip", "proving.zip"]) {
  writeFileSync(join(results, name), python.FS.readFile(`/results/${name}`));
}
console.log(said);
