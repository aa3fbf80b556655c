// What a browser remembers of this page. Storage may be refused (private windows, strict settings): then things
// are remembered until the page closes, and nothing else changes.

class Memory {
  #name;
  #instead = new Map();

  constructor(name) {
    this.#name = name;
  }

  // Asked for each time: even looking at window.localStorage throws where storage is refused.
  #use(action, otherwise) {
    try {
      return action(window[this.#name]);
    } catch {
      return otherwise();
    }
  }

  get(key) {
    return this.#use((storage) => storage.getItem(key), () => this.#instead.get(key) ?? null);
  }

  set(key, value) {
    this.#use((storage) => storage.setItem(key, value), () => this.#instead.set(key, value));
  }

  remove(key) {
    this.#use((storage) => storage.removeItem(key), () => this.#instead.delete(key));
  }
}

export const lasting = new Memory('localStorage');
export const untilClosed = new Memory('sessionStorage');
