/** Reads a header of either kind of request. */

/** Headers of a fetch-style `Request`, or of `node:http` and frameworks built on it. */
export type AnyHeaders =
  { get(name: string): string | null } | { readonly [name: string]: string | readonly string[] | undefined };

/** Returns a header by its name in lower case; empty when it is absent or repeated. */
export function headerOf(headers: AnyHeaders, name: string): string {
  if (typeof headers.get === 'function') return headers.get(name) ?? '';
  for (const [key, value] of Object.entries(headers))
    if (key.toLowerCase() === name && typeof value === 'string') return value;
  return '';
}
