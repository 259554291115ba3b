/**
 * Writes the request log: one JSON line per request, with the route pattern for the path, so that no secret, e-mail
 * address, id, code or token is logged from it.
 */
import { isoTime, systemClock } from '../core/clock.ts';
import type { RequestContext } from './request-context.ts';

/** @param route the operation's path, with the names of its parameters in place of their values. */
export type NoteAnswer = (context: RequestContext, route: string, status: number) => void;

/** Logs one answered request, with the time from its arrival to its answer. */
export type AccessLog = (context: RequestContext, route: string, status: number, durationMs: number) => void;

/** Standard methods. Any other may be made up by a client, so it gets no cache entry or label of its own. */
export const COMMON_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]);

/** Returns whether a key's call was refused, or the token that it asked about. */
export const isCallRefused = ({ isTokenRefused }: RequestContext, status: number): boolean =>
  status >= 400 || isTokenRefused;

/** @param write takes one line with its line end; null where requests are not logged at this level. */
export function accessLog(write: ((line: string) => void) | null): AccessLog {
  if (write === null) return () => {};
  /** Prefix cached per millisecond, and middle part cached per route and method: joining few parts is fast. */
  let begunAt = 0;
  let begin = '';
  const targets = new Map<string, Map<string, string>>();

  function target(route: string, method: string): string {
    const known = targets.get(route)?.get(method);
    if (known !== undefined) return known;
    const text = `","method":${JSON.stringify(method)},"route":"${route}","status":`;
    if (COMMON_METHODS.has(method)) targets.set(route, new Map(targets.get(route)).set(method, text));
    return text;
  }

  return (context, route, status, durationMs) => {
    const { requestId, principalId, method } = context;
    // A successful call looks up no address for the log alone.
    const ip = status < 400 ? context.knownIp : context.ip;
    const now = systemClock.now();
    if (now !== begunAt) [begunAt, begin] = [now, `{"level":"info","time":"${isoTime(now)}","requestId":"`];
    // Unescaped: ids are generated here, and the address was parsed as an IP address.
    const principal = principalId === null ? ',"principal":null,"ip":' : `,"principal":"${principalId}","ip":`;
    const end = ip === null ? 'null}\n' : `"${ip}"}\n`;
    write(
      `${begin}${requestId}${target(route, method)}${status},"durationMs":${Math.round(durationMs * 100) / 100}${principal}${end}`,
    );
  };
}
