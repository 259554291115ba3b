/** Thread that verifies: listens on the server's port, answers verifications, hands every other request over. */
import { systemClock } from '../core/clock.ts';
import { whenReadyWith } from '../core/maybe-promise.ts';
import { openThreadReader, type ThreadReader } from '../db/sqlite/thread-reader.ts';
import { bodyPool } from '../http/body-pool.ts';
import { withBodyDrained } from '../http/drain-body.ts';
import { type CertificatePair, type Listener, listen } from '../http/listener.ts';
import type { Serve } from '../http/raw-path.ts';
import { type Chunk, type HandOverFrame, frameSender } from './frames.ts';
import { handOver } from './hand-over.ts';
import { startHeartbeat } from './heartbeat.ts';
import type { ThreadReport, ThreadCommand } from './messages.ts';
import { type ThreadApp, threadApp } from './thread-app.ts';

declare const self: Worker;

type Start = Extract<ThreadCommand, { kind: 'start' }>;

const MIB = 1024 * 1024;

const post = (message: ThreadReport): void => self.postMessage(message);

interface Running {
  readonly listener: Listener;
  readonly data: ThreadReader;
  readonly app: ThreadApp;
  received(frames: readonly HandOverFrame[]): void;
  receivedChunk(chunk: Chunk): void;
  ready(): void;
}

function start({ number, settings, certificate, isReady: wasReady }: Start): Running {
  const sender = frameSender((message, transfer) => self.postMessage(message, transfer), setImmediate);
  const peerAddress = (request: Request): string | null => listener.peerAddress(request);
  const data = openThreadReader(settings.databasePath, settings.changes, settings.maxCached);
  const app = threadApp({
    number,
    settings,
    reader: data.reader,
    clock: systemClock,
    peerAddress,
    sendNotes: (notes) => post({ kind: 'notes', notes }),
  });
  const handing = handOver({
    sender,
    peerAddress,
    keepOpen: (request) => listener.keepOpen(request),
    waiting: bodyPool(settings.limits.anonymousBodiesMib * MIB),
  });
  let isReady = wasReady;

  const serve: Serve = (request, seen) => {
    const answer = isReady ? app.answer(request, seen) : null;
    if (answer === null) return handing.take(request, seen);
    return whenReadyWith(answer, request, withBodyDrained);
  };
  const listener = listen({
    host: settings.host,
    port: settings.port,
    certificate,
    isShared: true,
    serve,
    onError(error) {
      app.notes.log({ level: 'error', fields: { err: String(error) }, message: 'a thread failed outside a request' });
      return Response.json({ success: false, error: 'internal' }, { status: 500 });
    },
  });
  return {
    listener,
    data,
    app,
    received: (frames) => frames.forEach(handing.received),
    receivedChunk: handing.receivedChunk,
    ready() {
      isReady = true;
    },
  };
}

async function stop({ listener, data, app }: Running, isForced: boolean): Promise<void> {
  await listener.stop(isForced);
  await app.notes.flush();
  data.close();
  post({ kind: 'stopped' });
}

/** Keeps the certificate in use where the renewed one cannot be served. */
function renew({ listener, app }: Running, certificate: CertificatePair): void {
  try {
    listener.renew(certificate);
  } catch (error) {
    const fields = { err: String(error) };
    app.notes.log({ level: 'error', fields, message: 'a thread keeps the old certificate: restart the server' });
  }
}

/** State of the thread: a worker is a process of its own in this regard. */
let running: Running | undefined;

function begin(message: Start): void {
  try {
    running = start(message);
    startHeartbeat(message.heartbeat);
    post({ kind: 'listening' });
  } catch (error) {
    const { code, message: text } = error as NodeJS.ErrnoException;
    post({ kind: 'failed', code: code ?? null, message: text });
  }
}

function obey(message: ThreadCommand): void {
  if (message.kind === 'start') return begin(message);
  if (running === undefined) return;
  const { listener } = running;
  switch (message.kind) {
    case 'ready':
      return running.ready();
    case 'renew':
      return renew(running, message.certificate);
    case 'close idle':
      return post({ kind: 'closed idle', count: listener.closeIdle() });
    case 'leave':
      return void listener.leave().then(() => post({ kind: 'left' }));
    case 'stop':
      return void stop(running, message.isForced);
  }
}

self.onmessage = ({ data }: MessageEvent<string | Chunk | ThreadCommand>) => {
  if (typeof data === 'string') running?.received(JSON.parse(data) as HandOverFrame[]);
  else if ('bytes' in data) running?.receivedChunk(data);
  else obey(data);
};
