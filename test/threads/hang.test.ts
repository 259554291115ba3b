/** A thread whose event loop hangs is noticed, ended and replaced. */
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { CHECK_MS, heartbeatMemory, MOST_SILENT_CHECKS, silenceWatch } from '@/threads/heartbeat.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/long.ts';
import { connect } from './connection.ts';
import type { HangCommand } from './hanging-thread.ts';
import { startThreaded, type ThreadedServer } from './server.ts';

setDefaultTimeout(180_000);

const WITHIN_MS = 120_000;

let threaded: ThreadedServer | undefined;
afterEach(async () => {
  await threaded?.stop();
  threaded = undefined;
});

const logged = (part: string) =>
  eventually(part, () => threaded!.logLines.find((line) => line.includes(part)), WITHIN_MS);

async function startHanging(): Promise<ThreadedServer> {
  return (threaded = await startThreaded({ thread: new URL('./hanging-thread.ts', import.meta.url) }));
}

/** Resolves once the first thread answers nothing more. */
async function hang(command: HangCommand): Promise<void> {
  const worker = threaded!.workers[0]!;
  const hangs = Promise.withResolvers<void>();
  worker.addEventListener('message', ({ data }: MessageEvent<{ kind?: string }>) => {
    if (data.kind === 'hangs') hangs.resolve();
  });
  worker.postMessage(command);
  await hangs.promise;
}

describe('a thread in an endless loop', () => {
  test('is replaced, its clients are disconnected, and the other thread answers meanwhile', async () => {
    const running = await startHanging();
    const connections = await running.connectToAll();
    await hang({ kind: 'loop' });
    const answers = connections.map((connection) => connection.send('GET', '/healthz'));
    const answered = Promise.allSettled(answers);
    expect((await Promise.any(answers)).status).toBe(200);
    expect(await logged('ended and is replaced')).toContain('it hung for 6 s');
    await logged('the thread was replaced');
    expect((await answered).map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(running.workers.length).toBe(3);
    for (let time = 0; time < 16; time += 1) {
      const connection = await connect(running.port);
      expect((await connection.send('GET', '/healthz')).status).toBe(200);
      connection.close();
    }
    expect(running.server.pending()).toBe(0);
  });

  test('does not hold up a stop, and is not replaced during it', async () => {
    const running = await startHanging();
    await hang({ kind: 'loop' });
    threaded = undefined;
    await running.stop();
    expect(running.workers.length).toBe(2);
    expect(running.logLines.filter((line) => line.includes('is replaced'))).toEqual([]);
  });
});

test.if(isLong)(
  'a thread in a system call that does not return is named in the log, and replaced once it ends',
  async () => {
    await startHanging();
    await hang({ kind: 'sleep', ms: 3 * MOST_SILENT_CHECKS * CHECK_MS });
    await logged('cannot be ended: restart the server');
    await logged('the thread was replaced');
  },
);

test('only checks in a row without a beat count as silence', () => {
  const memory = heartbeatMemory();
  const beats = new Int32Array(memory);
  const silence = silenceWatch(memory);
  expect([silence(), silence(), silence()]).toEqual([0, 1, 2]);
  Atomics.add(beats, 0, 1);
  expect([silence(), silence()]).toEqual([0, 1]);
});
