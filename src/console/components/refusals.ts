/** What the server refused of a form, told apart by its fields. */
import type { Failure } from '../api.ts';

export interface Refusals {
  /** What was refused of a field, by its path in the body. */
  errorOf(path: string): string | null;
  /** What stands under no field; asked after all fields. */
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
