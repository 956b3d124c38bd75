// Behind `layoutdsl view`: the file that it was given, taken again whenever it changes on the disk.

import * as editor from "./editor.mjs";

const EVERY = 1000;

// Take the file of `view`, or `otherwise` where it got none, and follow it from then on.
export async function follow(answers, take, warn, otherwise) {
  document.getElementById("share").hidden = true; // its address serves nobody else
  const first = await answers.file();
  if (first.name === null || first.name === undefined) {
    take(otherwise);
    return;
  }
  answers.name = first.name;
  document.getElementById("file").textContent = first.name;
  document.title = `${first.name} - layoutdsl`;
  let { version } = first;
  let taken = put(first);

  function put({ text, error }) {
    if (error) {
      warn(error);
      return editor.text();
    }
    take(text);
    return text;
  }

  setInterval(async () => {
    let found;
    try {
      found = await answers.file(version);
    } catch {
      return; // what is asked next says that nobody answers
    }
    if (found.version === version) return;
    version = found.version;
    if (editor.text() === taken) taken = put(found);
    else if (found.text !== undefined) offer(found);
  }, EVERY);

  // What was typed here is not thrown away unasked.
  function offer(found) {
    warn(`${first.name} has changed on the disk, and so has the text here. `);
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Take the file";
    button.addEventListener("click", () => (taken = put(found)));
    document.getElementById("notice").append(button);
  }
}
