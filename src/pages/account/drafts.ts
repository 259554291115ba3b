/**
 * Unsaved input of the account's forms, kept while the reader looks at another part. Only in memory of one signed-in
 * view: a reload or sign-out forgets it, so that nobody else finds it.
 */
export interface Drafts {
  /** Returns null if there is none. */
  get<Value extends object>(name: string): Value | null;
  /** @param value null forgets it. */
  set(name: string, value: object | null): void;
}

export function drafts(): Drafts {
  const kept = new Map<string, object>();
  return {
    get: <Value extends object>(name: string) => (kept.get(name) ?? null) as Value | null,
    set(name, value) {
      if (value) kept.set(name, value);
      else kept.delete(name);
    },
  };
}
