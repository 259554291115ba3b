/**
 * One rung of the ladder: a server by hand on `Bun.serve` that does this step of a verification and those below it. The
 * last one does all that a verification must do, and is the measure of ours.
 * Usage: bun test/bench/ladder-server.ts PORT RUNG DATABASE
 */
import { Database } from 'bun:sqlite';
import { Elysia } from 'elysia';

/** From nothing to everything, each with the steps before it. `elysia` stands alone, for comparison. */
export const RUNGS = ['elysia', 'bare', 'body', 'lookups', 'limits', 'headers', 'log'] as const;
export type Rung = (typeof RUNGS)[number];

/** A body of the length of an envelope. */
const TEXT = JSON.stringify({ success: true, data: { userId: 'usr_', roles: ['user'], pad: 'x'.repeat(700) } });
const JSON_HEADERS = { 'Content-Type': 'application/json; charset=utf-8' };
const MINUTE = 60_000;
const DAY = 86_400_000;

interface KeyRow {
  readonly id: string;
  readonly expiresAt: number | null;
  readonly perMinute: number;
  readonly perDay: number;
}

interface SessionRow {
  readonly id: string;
  readonly expiresAt: number;
  readonly revokedAt: number | null;
  readonly email: string;
  readonly status: string;
}

/** Row that is valid while the count of commits is the same. */
interface Cached<Row> {
  readonly row: Row;
  readonly text: string;
  readonly asOf: number;
}

interface Window {
  count: number;
  readonly endsAt: number;
}

function use(table: Map<string, Window>, subject: string, windowMs: number, now: number): Window {
  let window = table.get(subject);
  if (window === undefined || window.endsAt <= now) table.set(subject, (window = { count: 0, endsAt: now + windowMs }));
  window.count += 1;
  return window;
}

/** @param height index in `RUNGS`. */
function byHand(height: number, file: string): (request: Request) => Response | Promise<Response> {
  const has = (rung: Rung) => height >= RUNGS.indexOf(rung);
  const [hasBody, hasLookups, hasLimits, hasHeaders, hasLog] = [
    has('body'),
    has('lookups'),
    has('limits'),
    has('headers'),
    has('log'),
  ];
  const database = new Database(file, { readonly: true });
  const sessionOf = database.prepare<SessionRow, [Uint8Array]>(
    `SELECT s.id, s.expires_at AS expiresAt, s.revoked_at AS revokedAt, u.email, m.status FROM sessions s
     JOIN application_users m ON m.id = s.application_user_id JOIN users u ON u.id = m.user_id WHERE s.token_hash = +?`,
  );
  const keyOf = database.prepare<KeyRow, [Uint8Array]>(
    'SELECT id, expires_at AS expiresAt, per_minute AS perMinute, per_day AS perDay FROM api_keys WHERE token_hash = +?',
  );
  const [keys, sessions] = [new Map<string, Cached<KeyRow>>(), new Map<string, Cached<SessionRow>>()];
  const [minutes, days, seen] = [new Map<string, Window>(), new Map<string, Window>(), new Map<string, number>()];
  const hash = new Uint8Array(32);
  const commits = 0;
  let count = 0;
  let lines: string[] = [];
  if (hasLog)
    setInterval(() => {
      if (lines.length > 0) process.stdout.write(lines.join(''));
      lines = [];
    }, 50);

  function cached<Row>(
    table: Map<string, Cached<Row>>,
    credential: string,
    find: (hash: Uint8Array) => Row | null,
    textOf: (row: Row) => string,
  ): Cached<Row> | null {
    Bun.SHA256.hash(credential, hash);
    const key = hash.toHex();
    const known = table.get(key);
    if (known?.asOf === commits) return known;
    const row = find(hash);
    if (row === null) return null;
    const entry = { row, text: textOf(row), asOf: commits };
    table.set(key, entry);
    return entry;
  }

  const answerOf = (row: SessionRow) =>
    JSON.stringify({ success: true, data: { ...row, roles: ['user'], pad: 'x'.repeat(600) } });
  const refused = () => new Response('{"success":false}', { status: 401, headers: JSON_HEADERS });

  /** @param token of the body, or null where the bearer is the session. */
  function answer(request: Request, token: string | null, startedAt: number): Response {
    if (!hasLookups) return new Response(TEXT, { headers: JSON_HEADERS });
    const now = Date.now();
    const bearer = (request.headers.get('authorization') ?? '').slice(7);
    const key = token === null ? null : cached(keys, bearer, (given) => keyOf.get(given), String);
    const session = cached(sessions, token ?? bearer, (given) => sessionOf.get(given), answerOf);
    if ((token !== null && key === null) || session === null) return refused();
    const { id: subject, perMinute, perDay } = key?.row ?? { id: session.row.id, perMinute: 1e6, perDay: 1e9 };
    const isValid = session.row.revokedAt === null && session.row.expiresAt > now && session.row.status === 'active';
    if (!isValid) return refused();
    if (!hasLimits) return new Response(session.text, { headers: JSON_HEADERS });
    const minute = use(minutes, subject, MINUTE, now);
    if (minute.count > perMinute || (token !== null && use(days, subject, DAY, now).count > perDay)) return refused();
    if (now - (seen.get(session.row.id) ?? 0) > MINUTE) seen.set(session.row.id, now);
    if (!hasHeaders) return new Response(session.text, { headers: JSON_HEADERS });
    const requestId = `req_${now.toString(36)}${(count++).toString(36)}`;
    const headers = {
      'X-Request-Id': requestId,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
      'RateLimit-Limit': String(perMinute),
      'RateLimit-Remaining': String(perMinute - minute.count),
      'RateLimit-Reset': String(Math.ceil((minute.endsAt - now) / 1000)),
      'Content-Type': 'application/json; charset=utf-8',
    };
    if (hasLog)
      lines.push(
        `{"level":"info","time":${now},"requestId":"${requestId}","method":"POST","route":"/api/v1/verify","status":200,"durationMs":${(performance.now() - startedAt).toFixed(2)},"principal":"${subject}"}\n`,
      );
    return new Response(session.text, { headers });
  }

  return (request) => {
    const startedAt = performance.now();
    if (!hasBody || request.headers.get('content-length') === null)
      return answer(request, hasBody ? null : '', startedAt);
    return request.text().then((text) => answer(request, (JSON.parse(text) as { token: string }).token, startedAt));
  };
}

if (import.meta.main) {
  const [port, rung, file] = [Number(process.argv[2]), process.argv[3] as Rung, process.argv[4] ?? ''];
  if (rung === 'elysia') {
    const data = JSON.parse(TEXT) as object;
    new Elysia()
      .post('/api/v1/verify', ({ body }) => (body ? data : null))
      .post('/api/v1/session', ({ body }) => (body === undefined ? data : null))
      .listen({ port, hostname: '127.0.0.1' });
  } else {
    const handle = byHand(RUNGS.indexOf(rung), file);
    Bun.serve({
      port,
      hostname: '127.0.0.1',
      routes: { '/api/v1/verify': { POST: handle }, '/api/v1/session': { POST: handle } },
      fetch: () => new Response('', { status: 404 }),
    });
  }
}
