// Verdicts: each claim a line, which opens to what was found of it. Words are the shell's.

const place = document.getElementById("verdicts");
const summary = document.getElementById("summary");
const UNSAVED = "page.layout"; // what a text is called that is no file

export function clear() {
  place.replaceChildren();
  summary.textContent = "";
}

// Those that stand there are of another text.
export function outdate() {
  if (!place.querySelector(".claim") || place.classList.contains("old")) return;
  place.classList.add("old");
  summary.textContent = "of an earlier text";
}

export function say(words) {
  place.classList.remove("old");
  const line = document.createElement("p");
  line.className = "empty";
  line.textContent = words;
  place.replaceChildren(line);
  summary.textContent = "";
}

// Show a result of `prove --json`, or why there is none; `name` is what the shell calls the text.
export function show({ output, errors }, name) {
  const found = read(output);
  place.classList.remove("old");
  if (!found?.claims) {
    say(found?.message ?? (errors || output).trim());
    return;
  }
  place.replaceChildren(...found.claims.map((each) => claim(each, name)));
  summary.textContent = found.summary;
}

export function read(output) {
  try {
    return JSON.parse(output);
  } catch {
    return null;
  }
}

function claim(each, name) {
  const whole = document.createElement("details");
  whole.className = `claim ${each.passed ? "passed" : each.status}`;
  whole.open = !each.passed;
  const [first, ...others] = each.text.split("\n");
  const head = document.createElement("summary");
  const sign = element("span", "sign", each.passed ? "\u2713" : each.status === "undecided" ? "?" : "\u2717");
  sign.setAttribute("aria-hidden", "true");
  head.append(sign, badge(each), element("code", "", each.passed ? said(first) : short(each)));
  whole.append(head);
  const text = each.passed ? others.join("\n") : each.text;
  if (text) whole.append(element("pre", "words", text));
  if (name === UNSAVED && text.includes("= replay: ")) {
    whole.append(element("p", "hint", `To run the replay line, save the text as ${UNSAVED}.`));
  }
  if (each.passed) {
    for (const finding of each.findings.filter(({ sentence }) => sentence)) {
      whole.append(element("pre", "words", counterexample(finding)));
    }
  }
  const proved = each.findings.filter((finding) => finding.status === "proved");
  if (proved.length) whole.append(list(proved));
  return whole;
}

function badge({ status, passed }) {
  return element("span", "badge", passed && status === "refuted" ? "refuted, as claimed" : status);
}

// What shows a claim to be wrong that says it is: the shell tells so with `-v`.
function counterexample({ sentence, shape, points }) {
  const named = (values, between) => Object.entries(values ?? {}).map(([k, v]) => `${k}=${v}`).join(between);
  const lines = points.map(({ index, words }) => {
    const where = named(index, ", ");
    return `    ${where ? `(${where}) ` : ""}${words}`;
  });
  return [sentence, ...(named(shape, "") ? [`  at shape ${named(shape, " ")}`] : []), ...lines].join("\n");
}

// The shell's line without its first word, which is the badge.
function said(line) {
  return line.replace(/^(proved|refuted|undecided)\s+/, "").replace(", as claimed  (", "  (");
}

function short({ claim: words, polarity }) {
  return words.startsWith(polarity) ? words.slice(polarity.length).trim() : words;
}

function list(findings) {
  const whole = element("ul", "findings", "");
  for (const { property, queries, conditions, says } of findings) {
    const counted = queries ? `  (${queries} question${queries === 1 ? "" : "s"})` : "";
    const where = conditions.length ? `, where ${conditions.join(", ")}` : "";
    whole.append(element("li", "", `${property}${where}${says ? `: ${says}` : ""}${counted}`));
  }
  return whole;
}

function element(kind, name, words) {
  const node = document.createElement(kind);
  if (name) node.className = name;
  node.textContent = words;
  return node;
}
