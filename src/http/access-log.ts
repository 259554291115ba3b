/**
 * The request log: one JSON line a request, made by hand from values that hold no secret and no address of a person. The
 * route's pattern stands for the path, so that no id, code or token of it is written down.
 */
import { isoTime, systemClock } from '../core/clock.ts';
import type { RequestContext } from './request-context.ts';

/** @param route the operation's path, with the names of its parameters in place of their values. */
export type NoteAnswer = (context: RequestContext, route: string, status: number) => void;

/** The same, with the time from the request's arrival to its answer. */
export type AccessLog = (context: RequestContext, route: string, status: number, durationMs: number) => void;

/** Those that every client uses; any other may be a word that the client made up. */
export const COMMON_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]);

/** @param write takes one line with its line end; null where requests are not logged at this level. */
export function accessLog(write: ((line: string) => void) | null): AccessLog {
  if (write === null) return () => {};
  /** What is the same for all requests of a millisecond, and of a route: lines of few parts are put together fast. */
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
    // The address of a caller who was let in is not looked up for the log alone.
    const ip = status < 400 ? context.knownIp : context.ip;
    const now = systemClock.now();
    if (now !== begunAt) [begunAt, begin] = [now, `{"level":"info","time":"${isoTime(now)}","requestId":"`];
    // Ids are of our making, and the address was parsed as one.
    const principal = principalId === null ? ',"principal":null,"ip":' : `,"principal":"${principalId}","ip":`;
    const end = ip === null ? 'null}\n' : `"${ip}"}\n`;
    write(
      `${begin}${requestId}${target(route, method)}${status},"durationMs":${Math.round(durationMs * 100) / 100}${principal}${end}`,
    );
  };
}
