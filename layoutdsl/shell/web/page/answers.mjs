// Who answers: Python in a worker of this page, or the `layoutdsl view` that served it.
//
// Both have   ask(arguments, text) -> {exit, output, errors}    and   stop(), which ends what runs;
// what was asked then ends with a `Stopped`. `tell` hears {loading}, {ready} and {failed}.

export class Stopped extends Error {}

const NAME = "page.layout";

export function answerer(tell) {
  const token = new URLSearchParams(location.search).get("token");
  return token === null ? new InWorker(tell) : new ByServer(token, tell);
}

class InWorker {
  constructor(tell) {
    this.tell = tell;
    this.name = NAME;
    this.start();
  }

  start() {
    this.number = 0;
    this.open = new Map();
    this.worker = new Worker(new URL("worker.mjs", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => this.heard(data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.heard({ failed: event.message || "the worker could not be started" });
    };
  }

  heard(data) {
    if (data.number === undefined) {
      this.tell(data);
      if (data.failed) this.end(new Error(data.failed));
    } else {
      this.open.get(data.number)?.resolve(data.response);
      this.open.delete(data.number);
    }
  }

  ask(words, text) {
    const number = (this.number += 1);
    return new Promise((resolve, reject) => {
      this.open.set(number, { resolve, reject });
      const request = { arguments: words, text, name: this.name };
      this.worker.postMessage({ number, request });
    });
  }

  end(reason) {
    for (const each of this.open.values()) each.reject(reason);
    this.open.clear();
  }

  stop() {
    this.worker.terminate();
    this.end(new Stopped());
    this.tell({ loading: "stopped; loading Python again" });
    this.start();
  }
}

class ByServer {
  constructor(token, tell) {
    this.headers = { "X-Layoutdsl-Token": token };
    this.name = NAME;
    this.aborting = new AbortController();
    queueMicrotask(() => tell({ ready: "checking" }));
    queueMicrotask(() => tell({ ready: "proving" }));
  }

  async ask(words, text) {
    const { signal } = this.aborting;
    try {
      const response = await fetch("run", {
        method: "POST",
        headers: { ...this.headers, "Content-Type": "application/json" },
        body: JSON.stringify({ arguments: words, text, name: this.name }),
        signal,
      });
      return await response.json();
    } catch (failure) {
      if (signal.aborted) throw new Stopped();
      throw new Error("`layoutdsl view` does not answer; was it ended?", { cause: failure });
    }
  }

  stop() {
    this.aborting.abort();
    this.aborting = new AbortController();
  }

  // Return the file that `view` was given, with its text unless that is still `version`.
  async file(version) {
    const query = version === undefined ? "" : `?version=${encodeURIComponent(version)}`;
    return (await fetch(`file${query}`, { headers: this.headers })).json();
  }
}
