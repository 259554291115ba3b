/** One connection to a server, kept open: all its requests go to the same thread. */
import { connect as connectTls } from 'node:tls';
import { connect as connectPlain, type Socket } from 'node:net';

export interface Reply {
  readonly status: number;
  readonly head: string;
  readonly text: string;
}

export interface Connection {
  /** Sends a request, and resolves with its whole answer. Requests of one connection take turns. */
  send(
    method: string,
    path: string,
    options?: { token?: string | undefined; body?: unknown; headers?: Record<string, string> },
  ): Promise<Reply>;
  readonly socket: Socket;
  close(): void;
}

/** Connects. @param isTls accepts any certificate. */
export async function connect(port: number, isTls = false): Promise<Connection> {
  const socket = isTls
    ? connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false })
    : connectPlain({ host: '127.0.0.1', port });
  const opened = Promise.withResolvers<void>();
  socket.once(isTls ? 'secureConnect' : 'connect', opened.resolve);
  socket.once('error', opened.reject);
  await opened.promise;
  let received = Buffer.alloc(0);
  let waiting: PromiseWithResolvers<Reply> | null = null;
  let isHead = false;
  let last: Promise<unknown> = Promise.resolve();

  function settle(): void {
    const reply = replyIn(received, isHead);
    if (reply === null || waiting === null) return;
    received = received.subarray(reply.length);
    const { promise: _, resolve } = waiting;
    waiting = null;
    resolve(reply);
  }

  socket.on('data', (part: Buffer) => {
    received = Buffer.concat([received, part]);
    settle();
  });
  socket.on('close', () => waiting?.reject(new Error('the connection was closed')));

  function sendNow(
    ...[method, path, { token, body, headers = {} } = {}]: Parameters<Connection['send']>
  ): Promise<Reply> {
    const text = body === undefined ? '' : JSON.stringify(body);
    const lines = {
      Host: `127.0.0.1:${port}`,
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(method !== 'GET' && method !== 'HEAD' && { 'Content-Length': String(Buffer.byteLength(text)) }),
      ...headers,
    };
    if (socket.destroyed) return Promise.reject(new Error('the connection was closed'));
    waiting = Promise.withResolvers();
    isHead = method === 'HEAD';
    const head = Object.entries(lines)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    socket.write(`${method} ${path} HTTP/1.1\r\n${head}\r\n${text}`);
    return waiting.promise;
  }

  return {
    socket,
    send(...given) {
      const next = last.then(() => sendNow(...given));
      last = next.catch(() => {});
      return next;
    },
    close: () => void socket.destroy(),
  };
}

/** Returns the first answer in what has arrived; null where it is not complete. */
function replyIn(received: Buffer, isHead: boolean): (Reply & { readonly length: number }) | null {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = received.subarray(0, end).toString('latin1');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
  const from = end + 4;
  const hasBody = !isHead && status !== 204 && status !== 304;
  const declared = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  const length = from + (hasBody ? declared : 0);
  if (received.length < length) return null;
  return { status, head, text: received.subarray(from, length).toString(), length };
}
