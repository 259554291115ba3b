/** Whether a client already has what it would be sent. */

/** Weak comparison against a list or `*`, as RFC 9110 §13.1.2 asks for If-None-Match. */
export function matchesEtag(ifNoneMatch: string | null, etag: string): boolean {
  if (!ifNoneMatch) return false;
  return ifNoneMatch.split(',').some((item) => {
    const candidate = item.trim().replace(/^W\//, '');
    return candidate === '*' || candidate === etag;
  });
}
