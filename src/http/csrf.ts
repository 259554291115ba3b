/** Protects against CSRF: a request that a cookie authenticates must come from a page of this server. */
import { AppError } from '../core/error.ts';
import { relyingPartyOf } from '../core/relying-party.ts';

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Refuses cookie-authenticated requests from other sites (CSRF). Reads are checked only if the browser says where they
 * come from, so that a link elsewhere does nothing here. @throws {AppError} forbidden
 */
export function requireSameOrigin(request: Request, baseUrl: string): void {
  const site = request.headers.get('sec-fetch-site');
  if (SAFE_METHODS.includes(request.method)) {
    if (site === null || site === 'same-origin' || site === 'none') return;
    throw new AppError('forbidden', { hint: 'cookie_from_elsewhere' });
  }
  if (!isFromOwnPage(request, baseUrl)) throw new AppError('forbidden', { hint: 'cookie_change_from_elsewhere' });
}

/** Returns whether a request comes from a page of this server; safe methods always pass. */
export function isFromOwnPage(request: Request, baseUrl: string): boolean {
  if (SAFE_METHODS.includes(request.method)) return true;
  const site = request.headers.get('sec-fetch-site');
  const origin = request.headers.get('origin');
  const isSameOrigin = origin !== null ? isOwnOrigin(origin, baseUrl) : site === 'same-origin';
  return isSameOrigin && (site === null || site === 'same-origin');
}

/** Accepts `localhost` as well on loopback, the only name there for which passkeys work. */
function isOwnOrigin(origin: string, baseUrl: string): boolean {
  return origin === new URL(baseUrl).origin || relyingPartyOf(baseUrl)?.origins.includes(origin) === true;
}
