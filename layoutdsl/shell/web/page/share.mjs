// A text in the address: `#text=` deflated and in base64url. It never goes to a server.

const MOST = 8192;

async function through(bytes, stream) {
  const whole = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(whole).arrayBuffer());
}

// Return the address that opens a text, or null where that would be too long.
export async function link(text) {
  const packed = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  const letters = btoa(Array.from(packed, (each) => String.fromCharCode(each)).join(""));
  const code = letters.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  if (code.length > MOST) return null;
  return `${location.origin}${location.pathname}#text=${code}`;
}

export const TOO_LONG = `The text is too long to be shared: deflated it takes more than ${MOST / 1024} KB. Save it as a file instead.`;

// Return the text of the address, undefined where it has none; it throws where that is damaged.
export async function linked() {
  const found = /^#text=(.*)$/s.exec(location.hash);
  if (!found) return undefined;
  if (found[1].length > MOST) throw new Error("The text of this link is longer than links may be.");
  try {
    const letters = atob(found[1].replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(letters, (each) => each.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(await inflated(packed));
  } catch {
    throw new Error("The text of this link is damaged: ask for it again.");
  }
}

// A short link may hold a text of any length; one of a megabyte is no layout.
async function inflated(packed) {
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const parts = [];
  let length = 0;
  for (let next; !(next = await reader.read()).done; ) {
    length += next.value.length;
    if (length > 1 << 20) throw new Error("too long");
    parts.push(next.value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
