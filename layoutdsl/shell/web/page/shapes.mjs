// Which shape a layout is drawn at before somebody says one: small, and ragged where that may be.

const SMALL = [2, 3, 2, 3];
const PARAMETER = 16;

// Return shapes as `--shape` takes them, the first to be tried first.
export function proposed(subject) {
  const values = (subject.coordinates ?? []).map((each) => each.value);
  const coordinates = values.length ? values : [subject.text];
  const blocks = subject.axes.map(({ name }) => block(coordinates, name, subject.parameters));
  const ragged = blocks.map((size, k) => (size > 1 ? size + Math.max(1, size >> 2) : few(subject, k)));
  const whole = blocks.map((size, k) => (size > 1 ? size : few(subject, k)));
  const narrow = subject.axes.map(() => 2);
  const single = blocks.map((size) => (size > 1 ? size : 1));
  const written = [ragged, whole, narrow, single].map((each) => shape(subject, fitted(subject, each)));
  return [...new Set(written)];
}

// Make extents multiples of what the text says they are, and those of one name one number.
function fitted({ axes, where }, extents) {
  const found = new Map();
  const said = where.map((each) => /^(\w+)%(\d+) == 0$/.exec(each)).filter(Boolean);
  const multiples = new Map(said.map(([, name, number]) => [name, Number(number)]));
  return axes.map(({ extent }, k) => {
    const multiple = multiples.get(extent) ?? 1;
    if (!found.has(extent)) found.set(extent, Math.ceil(extents[k] / multiple) * multiple);
    return found.get(extent);
  });
}

function few(subject, number) {
  return number === 0 && subject.axes.length > 2 ? 1 : SMALL[number % SMALL.length];
}

// Return how many indices of an axis the largest digit of it covers, as far as numbers say.
function block(coordinates, axis, parameters) {
  const digit = new RegExp(String.raw`\b${axis}((?:[/%](?:\d+|[A-Za-z_]\w*))+)`, "g");
  let most = 1;
  for (const coordinate of coordinates) {
    for (const [, cuts] of coordinate.matchAll(digit)) {
      let divided = 1;
      for (const [, sign, word] of cuts.matchAll(/([/%])(\w+)/g)) {
        const number = parameters.includes(word) ? PARAMETER : Number(word);
        if (!Number.isInteger(number)) continue;
        if (sign === "/") divided *= number;
        most = Math.max(most, sign === "/" ? divided : divided * number);
      }
    }
  }
  return most;
}

function shape({ axes, parameters }, extents) {
  const parts = axes.map(({ extent }, k) => {
    if (/^\d+$/.test(extent)) return extent;
    return String(parameters.includes(extent) ? PARAMETER : extents[k]);
  });
  return parts.join(",");
}

// Return a word for each parameter, as they stand between `<` and `>`.
export function usualParameters({ parameters }) {
  return parameters.map(() => PARAMETER).join(",");
}
