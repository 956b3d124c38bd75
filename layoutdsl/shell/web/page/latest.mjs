// Work that is done for the last wish alone: while it runs, later wishes take each other's place.

export function latest(work) {
  let running = false;
  let wish;
  return async function wanted(...words) {
    wish = words;
    if (running) return;
    running = true;
    try {
      while (wish) {
        const now = wish;
        wish = undefined;
        await work(...now);
      }
    } finally {
      running = false;
    }
  };
}
