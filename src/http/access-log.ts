/**
 * The request log: one JSON line a request, made by hand from values that hold no secret and no address of a person. The
 * route's pattern stands for the path, so that no id, code or token of it is written down.
 */
import { isoTime, systemClock } from '../core/clock.ts';
import type { RequestContext } from './request-context.ts';

/** @param route the operation's path, with the names of its parameters in place of their values. */
export type AccessLog = (context: RequestContext, route: string, status: number) => void;

/** Those that need no quoting. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** @param write takes one line with its line end; null where requests are not logged at this level. */
export function accessLog(write: ((line: string) => void) | null): AccessLog {
  if (write === null) return () => {};
  let writtenAt = 0;
  let time = '';
  return (context, route, status) => {
    const { requestId, startedAt, principalId } = context;
    const { method } = context.request;
    const durationMs = Math.round((performance.now() - startedAt) * 100) / 100;
    const principal = principalId === null ? 'null' : `"${principalId}"`;
    // Who is known by their credential, and was let in, is not looked up for the log alone.
    const ip = status < 400 ? context.knownIp : context.ip;
    const now = systemClock.now();
    if (now !== writtenAt) [writtenAt, time] = [now, isoTime(now)];
    // Ids are of our making, and the address was parsed as one; a method may be any token that the client made up.
    write(
      `{"level":"info","time":"${time}","requestId":"${requestId}","method":${METHODS.has(method) ? `"${method}"` : JSON.stringify(method)},` +
        `"route":"${route}","status":${status},"durationMs":${durationMs},"principal":${principal},"ip":${ip === null ? 'null' : `"${ip}"`}}\n`,
    );
  };
}
