// The library as a menu, a group for each family.

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
