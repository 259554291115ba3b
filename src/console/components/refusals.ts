/** Assigns the server's validation errors to form fields. */
import type { Failure } from '../api.ts';

export interface Refusals {
  /** Returns the error of a field, by its path in the body. */
  errorOf(path: string): string | null;
  /** Returns an error that belongs to no field; call after all `errorOf` calls. */
  elsewhere(): string | null;
}

export function refusals(failure: Failure | null): Refusals {
  const shown: string[] = [];
  const isOf = (name: string, path: string) => path === name || path.startsWith(`${name}.`);
  return {
    errorOf(name) {
      shown.push(name);
      return failure?.fields.find(({ path }) => isOf(name, path))?.message ?? null;
    },
    elsewhere() {
      const isShown = failure?.fields.some(({ path }) => shown.some((name) => isOf(name, path)));
      return failure && !isShown ? failure.message : null;
    },
  };
}
