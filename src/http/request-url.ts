/** The path and query of a request, read without its host: a client may send any `Host`, and not every one makes a URL. */

/** Path without query, still percent-encoded. */
export function pathOf({ url }: Request): string {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  const end = url.indexOf('?', start);
  return start < 0 ? '/' : url.slice(start, end < 0 ? undefined : end);
}

/** Empty where there is no query. */
export function queryOf({ url }: Request): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : url.slice(start + 1));
}
