/**
 * Sends many request bodies at once, each over its own connection. Runs as a child process: a load generator inside
 * the test would delay what it measures.
 *
 *   bun test/support/body-flood.ts URL PATH COUNT BYTES KIND [TOKEN]
 */

/** `held` keeps the last byte back, `chunked` declares no length, `stalled` sends one byte and no more. */
export type FloodKind = 'whole' | 'held' | 'chunked' | 'stalled';

export interface Flood {
  readonly path: string;
  readonly count: number;
  readonly bytes: number;
  readonly kind: FloodKind;
  readonly token?: string;
}

export interface FloodResult {
  readonly connected: number;
  /** Answers by status; `none` counts connections that ended without one. */
  readonly answers: Readonly<Record<string, number>>;
  readonly seconds: number;
}

/** Longest wait for the answers, longer than the server's limit for a slow body. */
const MAX_MS = 40_000;

const CHUNK = Buffer.alloc(0x10000, ' ');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** Runs a flood in a child process. */
export async function flood(url: string, { path, count, bytes, kind, token }: Flood): Promise<FloodResult> {
  const numbers = [count, bytes].map(String);
  const child = Bun.spawn(
    [process.execPath, import.meta.path, url, path, ...numbers, kind, ...(token ? [token] : [])],
    {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
    },
  );
  return JSON.parse(await new Response(child.stdout).text()) as FloodResult;
}

/** Returns the bytes that each connection writes, in parts that all connections share. */
function partsOf({ path, bytes, kind, token }: Flood, host: string): readonly Buffer[] {
  const length = kind === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes}`;
  const credential = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
  const head = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${credential}Content-Type: application/json\r\n${length}\r\n\r\n`;
  const sent = { whole: bytes, chunked: bytes, held: bytes - 1, stalled: 1 }[kind];
  const parts = [Buffer.from(head)];
  for (let left = sent; left > 0; left -= CHUNK.length) {
    const part = CHUNK.subarray(0, left);
    if (kind === 'chunked') parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'));
    else parts.push(part);
  }
  if (kind === 'chunked') parts.push(LAST_CHUNK);
  return parts;
}

async function run(url: URL, given: Flood): Promise<FloodResult> {
  const parts = partsOf(given, url.host);
  const answers: Record<string, number> = {};
  let connected = 0;
  let left = given.count;
  const all = Promise.withResolvers<void>();
  const note = (status: string) => {
    answers[status] = (answers[status] ?? 0) + 1;
    left -= 1;
    if (left === 0) all.resolve();
  };

  interface State {
    at: number;
    offset: number;
    isOver: boolean;
  }
  function push(socket: Bun.Socket<State>): void {
    const { data: state } = socket;
    for (let part = parts[state.at]; part !== undefined && !state.isOver; part = parts[state.at]) {
      const rest = part.subarray(state.offset);
      const written = Math.max(0, socket.write(rest));
      state.offset += written;
      if (written < rest.length) return;
      state.at += 1;
      state.offset = 0;
    }
  }
  function end(socket: Bun.Socket<State>, status: string): void {
    if (!socket.data.isOver) note(status);
    socket.data.isOver = true;
  }
  const since = performance.now();
  const open = () =>
    Bun.connect<State>({
      hostname: url.hostname,
      port: Number(url.port),
      data: { at: 0, offset: 0, isOver: false },
      socket: {
        open(socket) {
          connected += 1;
          push(socket);
        },
        drain: push,
        data: (socket, part) => end(socket, part.toString('latin1', 9, 12)),
        close: (socket) => end(socket, 'none'),
        error: (socket) => end(socket, 'none'),
      },
    }).catch(() => note('refused'));
  await Promise.all(Array.from({ length: given.count }, open));
  await Promise.race([all.promise, Bun.sleep(MAX_MS)]);
  return { connected, answers, seconds: Math.round((performance.now() - since) / 100) / 10 };
}

if (import.meta.main) {
  const [url = '', path = '', count, bytes, kind, token] = process.argv.slice(2);
  const given = { path, count: Number(count), bytes: Number(bytes), kind: kind as FloodKind };
  console.log(JSON.stringify(await run(new URL(url), { ...given, ...(token !== undefined && { token }) })));
  process.exit(0);
}
