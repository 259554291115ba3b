/** Assigns the server's validation errors to form fields. */
import type { Failure } from '../api.ts';

/** Returns the error of a field, by its path in the body. */
export type ErrorOf = (path: string) => string | null;

export interface FieldErrors {
  readonly errorOf: ErrorOf;
  /** Returns an error that belongs to no field; call after all `errorOf` calls. */
  formError(): string | null;
}

export function fieldErrors(failure: Failure | null): FieldErrors {
  const shown: string[] = [];
  const isOf = (name: string, path: string) => path === name || path.startsWith(`${name}.`);
  return {
    errorOf(name) {
      shown.push(name);
      return failure?.fields.find(({ path }) => isOf(name, path))?.message ?? null;
    },
    formError() {
      const isShown = failure?.fields.some(({ path }) => shown.some((name) => isOf(name, path)));
      return failure && !isShown ? failure.message : null;
    },
  };
}
