// What runs in a picture: whoever points at a cell of one side sees its fellow on the other.
for (const root of document.querySelectorAll(".ldp:not([data-live])")) {
  root.dataset.live = "1";
  const all = JSON.parse(root.dataset.all);
  const [say, ruler] = [root.querySelector(".say"), root.querySelector(".bits")];
  const sides = { buffer: root.querySelector(".buffer"), tensor: root.querySelector(".tensor") };
  const cells = {
    buffer: [...sides.buffer.querySelectorAll("td")],
    tensor: [...sides.tensor.querySelectorAll("td[data-k]")],
  };
  const words = (text) => (text ? text.split(" ") : []);
  const byNumber = new Map(cells.buffer.map((each) => [each.dataset.n, each]));
  const byKey = new Map(cells.tensor.map((each) => [each.dataset.k, each]));
  let marked = [];
  let timer = 0;

  const sideOf = (cell) => (sides.buffer.contains(cell) ? "buffer" : "tensor");

  const named = (key) => {
    let at = all.fields.length - 1;
    while (all.fields[at][2] > key) at -= 1;
    const [name, axes, base] = all.fields[at];
    let rest = key - base;
    const index = [];
    for (const [axis, extent] of [...axes].reverse()) {
      index.unshift((name ? "" : axis + "=") + (rest % extent));
      rest = Math.floor(rest / extent);
    }
    return name ? `${name}[${index.join(", ")}]` : `(${index.join(", ")})`;
  };

  const told = (cell, side) => {
    const { n, k, w } = cell.dataset;
    if (all.unit === "cycle") {
      return side === "buffer" ? all.reasons[w] : `${named(Number(k))} reads from byte ${cell.textContent}`;
    }
    if (side === "tensor") {
      const numbers = words(n);
      if (!numbers.length) return `${named(Number(k))} lies nowhere`;
      const unit = all.unit + (numbers.length > 1 ? "s " : " ");
      return `${named(Number(k))} lies at ${unit}${numbers.join(", ")}`;
    }
    if (k) return `${all.unit} ${n} holds ${words(k).map(Number).map(named).join(" and ")}`;
    const why = all.reasons[w] ? `: ${all.reasons[w]}` : "";
    if (cell.classList.contains("b")) return `${all.unit} ${n} lies before the first slot`;
    return `${all.unit} ${n} is padding${all.fill}${why}`;
  };

  const drawBits = (cell) => {
    ruler?.replaceChildren();
    for (const each of words(cell.dataset.b)) {
      const [low, high, key, first] = each.split(":");
      const many = Number(high) - Number(low);
      const place = low === high ? `bit ${low}` : `bits ${low}..${high}`;
      const from = many ? `bits ${first}..${Number(first) + many}` : `bit ${first}`;
      const part = document.createElement("span");
      part.style.minWidth = `${(many + 1) * 2.4}em`;
      part.textContent = key ? `${place}: ${from} of ${named(Number(key))}` : `${place}: free`;
      ruler.append(part);
    }
  };

  // Scroll a side, and nothing else of the page, until a cell of it is in view.
  const bring = (cell) => {
    const side = sides[sideOf(cell)];
    const [frame, at] = [side.getBoundingClientRect(), cell.getBoundingClientRect()];
    if (at.top < frame.top || at.bottom > frame.bottom) {
      side.scrollTop += at.top - frame.top - (frame.height - at.height) / 2;
    }
    if (at.left < frame.left || at.right > frame.right) {
      side.scrollLeft += at.left - frame.left - (frame.width - at.width) / 2;
    }
  };

  const point = (cell) => {
    for (const each of marked) each.classList.remove("here", "there");
    const side = sideOf(cell);
    const others = side === "buffer" ? words(cell.dataset.k).map((k) => byKey.get(k))
      : words(cell.dataset.n).map((n) => byNumber.get(n));
    marked = [cell, ...others.filter(Boolean)];
    marked.forEach((each, k) => each.classList.add(k ? "there" : "here"));
    say.textContent = told(cell, side);
    say.classList.add("told");
    drawBits(cell);
    if (marked[1]) bring(marked[1]);
    return marked[1];
  };

  const stop = () => {
    clearInterval(timer);
    timer = 0;
    for (const each of root.querySelectorAll("button")) each.setAttribute("aria-pressed", "false");
  };

  const focus = (cell) => {
    const own = cells[sideOf(cell)];
    for (const each of own) if (each.tabIndex === 0) each.tabIndex = -1;
    cell.tabIndex = 0;
    cell.focus();
    point(cell)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  };

  const below = (cell, step) => {
    const rows = [...sides[sideOf(cell)].querySelectorAll("tr")].filter((r) => r.querySelector("td"));
    const inRow = (row) => [...row.children].filter((each) => each.tagName === "TD");
    const column = inRow(cell.parentElement).indexOf(cell);
    const row = rows[rows.indexOf(cell.parentElement) + step];
    const found = row && inRow(row)[Math.min(column, inRow(row).length - 1)];
    return found && (found.dataset.k || found.dataset.n) ? found : undefined;
  };

  for (const side of Object.values(sides)) {
    const mark = side.querySelector("td.k, td.w");
    if (!mark) continue;
    bring(mark);
    // Parts out of view have a guessed height until they are laid out: then the place is right.
    requestAnimationFrame(() => requestAnimationFrame(() => bring(mark)));
  }

  for (const own of Object.values(cells)) {
    for (const each of own) each.tabIndex = -1;
    if (own[0]) own[0].tabIndex = 0;
  }
  const cellOf = (event) => {
    const cell = event.target.closest?.("td");
    return cell && (cell.dataset.n || cell.dataset.k) ? cell : undefined;
  };
  root.addEventListener("mouseover", (event) => {
    const cell = cellOf(event);
    if (cell && !timer) point(cell);
  });
  root.addEventListener("focusin", (event) => {
    const cell = cellOf(event);
    if (cell) { stop(); point(cell); }
  });
  root.addEventListener("click", (event) => {
    const cell = cellOf(event);
    if (cell) focus(cell);
  });
  root.addEventListener("keydown", (event) => {
    const cell = cellOf(event);
    if (!cell) return;
    const own = cells[sideOf(cell)];
    const at = own.indexOf(cell);
    const goes = {
      ArrowRight: () => own[at + 1], ArrowLeft: () => own[at - 1],
      ArrowDown: () => below(cell, 1), ArrowUp: () => below(cell, -1),
      Home: () => own[0], End: () => own[own.length - 1], Enter: () => point(cell),
    }[event.key];
    const next = goes && goes();
    if (goes) event.preventDefault();
    if (next) focus(next);
  });
  for (const button of root.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      const again = button.getAttribute("aria-pressed") === "true";
      stop();
      if (again) return;
      button.setAttribute("aria-pressed", "true");
      const own = cells[button.dataset.side].filter((each) => !each.classList.contains("b"));
      let at = 0;
      timer = setInterval(() => {
        if (at >= own.length) { stop(); return; }
        point(own[at]);
        at += 1;
      }, Math.max(20, Math.min(200, 20000 / own.length)));
    });
  }
}
