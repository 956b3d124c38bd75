// The library as a menu, a group for each family.

const FIRST = ["NCHW16c", "GmmaKSw128", "Q4_0"];

// Return buttons that take an example, for who has an empty text: `first`, and some of the library.
export function starts(menu, take, first) {
  const options = FIRST.map((name) => [...menu.options].find((each) => each.value === name));
  const found = options.filter(Boolean).map((each) => [each.value, () => each.dispatchEvent(new Event("chosen"))]);
  return [["four claims", () => take(first)], ...found].map(([words, chosen]) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.addEventListener("click", chosen);
    return button;
  });
}

export async function fill(menu, take) {
  const families = await (await fetch("examples.json")).json();
  for (const [family, entries] of Object.entries(families)) {
    const group = document.createElement("optgroup");
    group.label = family.replaceAll("_", " ");
    for (const [name, text] of Object.entries(entries)) {
      const option = new Option(name, name);
      option.addEventListener("chosen", () => take(text));
      group.append(option);
    }
    menu.append(group);
  }
  menu.addEventListener("change", () => {
    menu.selectedOptions[0]?.dispatchEvent(new Event("chosen"));
  });
}
